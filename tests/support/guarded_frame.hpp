// A frame whose rows have guard bytes before and after them: shows whoever writes, or uses, what is not his.
#pragma once
#include <cstring>
#include <vector>

#include "pixel_format.hpp"

namespace quietframe::test {

class GuardedFrame {
 public:
  /// Strides are the least legal ones and `padding` bytes more; whole samples, so that f32 rows stay aligned.
  GuardedFrame(const FrameFormat& format, int padding, std::byte guard)
      : guard_(guard), info_(format_info(format.format)) {
    frame_.format = format;
    std::size_t total = edge;
    std::array<std::size_t, max_planes> start{};
    for (int p = 0; p < info_.planes; ++p) {
      const auto size = plane_size(info_, p, format.width, format.height);
      start[p] = total;
      frame_.stride[p] = (size.row_bytes + padding + 3) / 4 * 4;
      total += static_cast<std::size_t>(frame_.stride[p]) * static_cast<std::size_t>(size.rows) + edge;
    }
    bytes_.assign(total, guard);
    for (int p = 0; p < info_.planes; ++p) frame_.plane[p] = bytes_.data() + start[p];
  }
  GuardedFrame(const GuardedFrame&) = delete;
  GuardedFrame& operator=(const GuardedFrame&) = delete;

  const Frame& frame() const { return frame_; }
  /// The frame, its guards and all.
  std::vector<std::byte>& bytes() { return bytes_; }

  /// Whether every byte that is not a row's own is as it was.
  bool guards_intact() const {
    auto bytes = bytes_;
    for (int p = 0; p < info_.planes; ++p) {
      const auto size = plane_size(info_, p, frame_.format.width, frame_.format.height);
      for (int y = 0; y < size.rows; ++y)
        std::memset(bytes.data() + (frame_.plane[p] - bytes_.data()) + y * frame_.stride[p],
                    static_cast<int>(guard_), static_cast<std::size_t>(size.row_bytes));
    }
    for (const auto b : bytes)
      if (b != guard_) return false;
    return true;
  }

 private:
  static constexpr std::size_t edge = 64;
  std::byte guard_;
  const FormatInfo& info_;
  Frame frame_;
  std::vector<std::byte> bytes_;
};

/// Calls visit(channel, x, y, pointer to the sample) for every sample of a group.
template <class Visit>
void for_each_sample(const GroupView& v, Visit visit) {
  for (int c = 0; c < v.channels; ++c)
    for (int y = 0; y < v.height; ++y)
      for (int x = 0; x < v.width; ++x)
        visit(c, x, y, v.channel[c] + y * v.stride[c] + std::ptrdiff_t{x} * v.step);
}

}  // namespace quietframe::test
