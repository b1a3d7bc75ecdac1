// The pictures of an experiment, and host memory for frames.
#pragma once
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device.hpp"
#include "pixel_format.hpp"

namespace quietframe::evaluation {

/// Gray slices of one size in a file: rows of float32 in levels, 0..255, little-endian, without a header, one
/// slice after another. Read when asked for, for a set may be larger than memory.
class Slices {
 public:
  /// Throws Error when the file cannot be read or is no whole number of slices.
  Slices(const std::string& path, int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  int count() const { return count_; }
  std::size_t pixels() const { return static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_); }

  /// Slice `index` % count().
  std::vector<float> read(int index);

 private:
  std::ifstream file_;
  std::string path_;
  int width_, height_, count_ = 0;
};

/// A gray frame in page-locked memory where there is CUDA.
class HostFrame {
 public:
  explicit HostFrame(const FrameFormat& format);
  const Frame& frame() const { return frame_; }

  /// Levels to samples (rounded and clamped for gray8), and back.
  void store(const std::vector<float>& levels);
  std::vector<float> levels() const;

 private:
  struct Free {
    void operator()(std::byte* p) const { cuda::host_free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  Frame frame_;
};

}  // namespace quietframe::evaluation
