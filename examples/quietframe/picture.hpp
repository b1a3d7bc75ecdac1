// One still picture in memory, as files hold them, and its way to the filters and back.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter.hpp"
#include "pixel_format.hpp"

namespace quietframe::cli {

/// An ancillary chunk of a PNG file, which filters do not read.
struct PngChunk {
  std::array<char, 5> name{};  ///< four letters and 0
  std::vector<std::byte> data;
};

/// What a file says about its samples: it travels with the picture to where the output's format has a place
/// for it.
struct Carried {
  std::vector<std::byte> icc;    ///< colour profile; empty: none
  std::vector<PngChunk> chunks;  ///< from PNG to PNG: the table in formats/png.cpp
};

/// Samples interleaved, rows without padding, in the machine's byte order.
struct Picture {
  int width = 0, height = 0;
  int channels = 1;    ///< 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha
  int max_code = 255;  ///< white: 1..255 in bytes, 256..65535 in two bytes; 0: float samples, white is 1
  std::vector<std::byte> data;
  Carried carried;

  bool is_float() const { return max_code == 0; }
  bool has_alpha() const { return channels % 2 == 0; }
  int colours() const { return channels < 3 ? 1 : 3; }
  int sample_bytes() const { return is_float() ? 4 : max_code < 256 ? 1 : 2; }
  std::size_t samples() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(channels);
  }
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels * sample_bytes());
  }
  std::byte* row(int y) { return data.data() + static_cast<std::size_t>(y) * row_bytes(); }
  const std::byte* row(int y) const { return data.data() + static_cast<std::size_t>(y) * row_bytes(); }
  /// Allocates `data` for the sizes set so far.
  void allocate() { data.resize(samples() * static_cast<std::size_t>(sample_bytes())); }
};

inline constexpr int max_side = 32767;                  ///< of a picture or frame, pixels
inline constexpr std::size_t max_pixels = 400'000'000;  ///< more is taken for damage

/// Throws FileError unless 1 <= width, height <= max_side and their product is at most max_pixels.
void check_size(std::uint64_t width, std::uint64_t height);

/// The format in which a processor filters this picture: its own depth, or float where there is no such
/// format (RGB of 16 bits, a white other than 2^n - 1).
FrameFormat work_format(const Picture& picture);

/// Copies the colour samples into a frame of work_format(picture).
void picture_to_frame(const Picture& picture, const Frame& frame);
/// The way back; `picture` has its size and format, and its alpha is left alone.
void frame_to_picture(const Frame& frame, Picture& picture);

/// The colour channels as float planes.
struct Planes {
  Scratch storage;
  PlanarGroup group;
  Planes(int width, int height, int channels);
};

enum class Unit {
  levels,  ///< white is 255
  codes,   ///< the numbers in the file
};
Planes to_planes(const Picture& picture, Unit unit);
/// Stores planes in levels into the colour samples of a picture of their size, rounded and clamped.
void from_levels(const PlanarGroup& planes, Picture& picture);

/// An empty picture: black, alpha opaque where there is one.
Picture blank_picture(int width, int height, int channels, int max_code);

/// The picture with white at `max_code` (1..65535), each sample rounded to nearest; float samples are
/// clamped.
Picture with_max_code(const Picture& picture, int max_code);
/// The picture in float samples, white 1.
Picture as_float(const Picture& picture);

}  // namespace quietframe::cli
