// Slices from a file, and frames of host memory.
#include "evaluation/slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "processor.hpp"

namespace quietframe::evaluation {

Slices::Slices(const std::string& path, int width, int height)
    : file_(path, std::ios::binary), path_(path), width_(width), height_(height) {
  if (!file_) throw Error(fmt::format("{} cannot be opened", path));
  file_.seekg(0, std::ios::end);
  const auto bytes = static_cast<std::size_t>(file_.tellg()), slice = pixels() * sizeof(float);
  if (bytes == 0 || bytes % slice != 0)
    throw Error(fmt::format("{} holds {} bytes, which is no whole number of {}x{} float32 slices", path,
                            bytes, width, height));
  count_ = static_cast<int>(bytes / slice);
}

std::vector<float> Slices::read(int index) {
  std::vector<float> levels(pixels());
  const auto bytes = static_cast<std::streamoff>(pixels() * sizeof(float));
  file_.seekg(bytes * (index % count_));
  if (!file_.read(reinterpret_cast<char*>(levels.data()), bytes))
    throw Error(fmt::format("{} cannot be read to its end", path_));
  return levels;
}

HostFrame::HostFrame(const FrameFormat& format) {
  const auto bytes = pack_frame(format, nullptr, nullptr);
  data_.reset(static_cast<std::byte*>(cuda::host_alloc(bytes)));
  if (!data_) throw std::bad_alloc();
  pack_frame(format, data_.get(), &frame_);
  frame_.memory = cuda::host_memory_is_pinned() ? MemoryKind::pinned : MemoryKind::pageable;
}

void HostFrame::store(const std::vector<float>& levels) {
  if (frame_.format.format == PixelFormat::gray_f32) {
    std::memcpy(frame_.plane[0], levels.data(), levels.size() * sizeof(float));
    return;
  }
  std::ranges::transform(levels, reinterpret_cast<unsigned char*>(frame_.plane[0]), [](float v) {
    return static_cast<unsigned char>(std::lround(std::clamp(v, 0.f, 255.f)));
  });
}

std::vector<float> HostFrame::levels() const {
  const auto n =
      static_cast<std::size_t>(frame_.format.width) * static_cast<std::size_t>(frame_.format.height);
  std::vector<float> levels(n);
  if (frame_.format.format == PixelFormat::gray_f32)
    std::memcpy(levels.data(), frame_.plane[0], n * sizeof(float));
  else
    std::copy_n(reinterpret_cast<const unsigned char*>(frame_.plane[0]), n, levels.begin());
  return levels;
}

}  // namespace quietframe::evaluation
