// Copies frames between ordinary and page-locked memory.
#include "cuda/staging.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace quietframe::cuda {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t bytes_per_task = 256 * 1024;  // smaller pieces are not worth waking a thread for

}  // namespace

void StagingFrame::allocate(const FrameFormat& format) {
  const auto& info = format_info(format.format);
  std::array<std::size_t, max_planes> offset{};
  std::size_t bytes = 0;
  Frame f{format, {}, {}, MemoryKind::pinned};
  for (int i = 0; i < info.planes; ++i) {
    const auto size = plane_size(info, i, format.width, format.height);
    f.stride[i] = (size.row_bytes + std::ptrdiff_t{alignment} - 1) / std::ptrdiff_t{alignment} *
                  std::ptrdiff_t{alignment};
    offset[i] = bytes;
    bytes += static_cast<std::size_t>(f.stride[i]) * static_cast<std::size_t>(size.rows);
  }
  if (bytes > capacity_) {
    release();
    memory_ = allocate_pinned(bytes);
    capacity_ = bytes;
  }
  for (int i = 0; i < info.planes; ++i) f.plane[i] = memory_.get() + offset[i];
  frame_ = f;
}

unsigned RowCopier::threads() { return std::clamp(std::thread::hardware_concurrency() / 2, 1U, 4U); }

std::size_t RowCopier::copy(const Frame& from, const Frame& to) {
  const auto& info = format_info(from.format.format);
  std::size_t total = 0;
  for (int i = 0; i < info.planes; ++i) {
    const auto size = plane_size(info, i, from.format.width, from.format.height);
    const auto row = static_cast<std::size_t>(size.row_bytes);
    auto copy_rows = [&, i](int begin, int end, int) {
      for (int y = begin; y < end; ++y)
        std::memcpy(to.plane[i] + y * to.stride[i], from.plane[i] + y * from.stride[i], row);
    };
    const auto grain = std::max<std::size_t>(1, bytes_per_task / std::max<std::size_t>(row, 1));
    if (static_cast<std::size_t>(size.rows) <= grain)
      copy_rows(0, size.rows, 0);
    else
      pool_.parallel_for(size.rows, static_cast<int>(grain), copy_rows);
    total += row * static_cast<std::size_t>(size.rows);
  }
  return total;
}

}  // namespace quietframe::cuda
