// A frame in page-locked memory with guard bytes round every row.
#pragma once
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cuda/device.hpp"
#include "pixel_format.hpp"

namespace quietframe::test {

class PinnedFrame {
 public:
  static constexpr std::byte guard{0x5a};

  /// Strides are the least legal ones and `padding` bytes more.
  explicit PinnedFrame(const FrameFormat& format, int padding = 0) {
    const auto& info = format_info(format.format);
    frame_.format = format;
    frame_.memory = MemoryKind::pinned;
    std::array<std::size_t, max_planes> offset{};
    for (int i = 0; i < info.planes; ++i) {
      const auto size = plane_size(info, i, format.width, format.height);
      frame_.stride[i] = size.row_bytes + padding;
      offset[i] = bytes_;
      bytes_ += static_cast<std::size_t>(frame_.stride[i]) * static_cast<std::size_t>(size.rows);
    }
    memory_.reset(static_cast<std::byte*>(cuda::host_alloc(bytes_)));
    if (!memory_) throw std::runtime_error("out of page-locked memory");
    std::memset(memory_.get(), static_cast<int>(guard), bytes_);
    for (int i = 0; i < info.planes; ++i) frame_.plane[i] = memory_.get() + offset[i];
  }

  const Frame& frame() const { return frame_; }
  void clear(std::byte value) { std::memset(memory_.get(), std::to_integer<int>(value), bytes_); }

  /// Whether every byte that belongs to no row is still the guard.
  bool guards_intact() const {
    const auto& info = format_info(frame_.format.format);
    for (int i = 0; i < info.planes; ++i) {
      const auto size = plane_size(info, i, frame_.format.width, frame_.format.height);
      for (int y = 0; y < size.rows; ++y)
        for (auto x = size.row_bytes; x < frame_.stride[i]; ++x)
          if (frame_.plane[i][y * frame_.stride[i] + x] != guard) return false;
    }
    return true;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { cuda::host_free(p); }
  };
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
  Frame frame_;
};

}  // namespace quietframe::test
