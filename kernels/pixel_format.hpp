// The pixel formats the filters take, described as data: where each sample of each channel stands in memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "image_view.hpp"

namespace quietframe {

inline constexpr int max_planes = 4;
inline constexpr int max_channels = 3;  ///< filtered jointly
inline constexpr int max_groups = 2;    ///< luma and chroma, or one joint group

enum class PixelFormat {
  gray8,
  gray16_le,
  gray16_be,
  i420,
  yv12,
  nv12,
  nv21,
  y42b,
  y444,
  i420_10le,
  p010_10le,
  yuy2,
  uyvy,
  rgb,
  bgr,
  rgbx,
  bgrx,
  xrgb,
  xbgr,
  rgba,
  bgra,
  argb,
  abgr,
  // Library only (no GStreamer caps); float samples are in levels, 0..255, and are never clamped.
  gray_f32,
  rgb_f32,
};

enum class SampleType : std::uint8_t { u8, u16_le, u16_be, f32 };

/// One channel: sample (x, y) stands at plane + y * stride + offset + x * step.
struct ChannelInfo {
  std::int8_t plane;
  std::int8_t offset;  ///< bytes
};

/// Channels of one size that a filter weighs jointly: gray, luma, the two chroma planes, or R, G and B.
struct GroupInfo {
  std::int8_t channels;  ///< 1 to 3
  std::array<ChannelInfo, max_channels> channel;
  std::int8_t step;          ///< bytes from one pixel of the group to the next
  std::int8_t sub_x, sub_y;  ///< log2 of the subsampling; sizes round up
  bool chroma;
};

struct FormatInfo {
  PixelFormat format;
  const char* name;  ///< GStreamer's name
  SampleType type;
  std::int8_t depth;  ///< bits that carry the value
  std::int8_t shift;  ///< bits of padding below the value (P010: 6)
  std::int8_t planes;
  std::int8_t groups;
  std::array<GroupInfo, max_groups> group;
  std::int8_t carry_offset;  ///< byte of alpha or padding in a packed pixel that passes untouched; -1: none

  int sample_bytes() const { return type == SampleType::u8 ? 1 : type == SampleType::f32 ? 4 : 2; }
};

/// All formats, in the order of the enumerators.
std::span<const FormatInfo> all_formats();
const FormatInfo& format_info(PixelFormat format);
/// By GStreamer's name; null when there is none.
const FormatInfo* find_format(std::string_view gst_name);

/// Width of one group of a frame of `width` pixels (chroma rounds up).
inline int group_width(const GroupInfo& g, int width) { return (width + (1 << g.sub_x) - 1) >> g.sub_x; }
inline int group_height(const GroupInfo& g, int height) { return (height + (1 << g.sub_y) - 1) >> g.sub_y; }

/// Size of one plane of a frame: rows, and the bytes of a row that carry samples (the least legal stride).
struct PlaneSize {
  int rows;
  std::ptrdiff_t row_bytes;
};
PlaneSize plane_size(const FormatInfo& info, int plane, int width, int height);

/// What stays the same from frame to frame after negotiation.
struct FrameFormat {
  PixelFormat format = PixelFormat::gray8;
  int width = 0;   ///< 1..32767 pixels
  int height = 0;  ///< 1..32767 rows
  int bit_depth =
      0;  ///< bits in use of a 16-bit gray container, LSB aligned (9..16); 0: all. Ignored by other formats

  bool operator==(const FrameFormat&) const = default;
};

/// Packed 4:2:2 of odd width: the last pair of a row has a luma sample that belongs to no pixel. It passes
/// untouched, as padding does, and stands where luma sample `width` would.
bool has_orphan_luma(const FrameFormat& format);

enum class MemoryKind : std::uint8_t {
  pageable,  ///< ordinary host memory
  pinned,    ///< page-locked host memory that the GPU reads and writes directly
  device,    ///< device memory of the processor's own device and context
};

/// One frame's planes, not owned. A plane that the format does not have is null.
struct Frame {
  FrameFormat format;
  std::array<std::byte*, max_planes> plane{};
  std::array<std::ptrdiff_t, max_planes> stride{};
  MemoryKind memory = MemoryKind::pageable;

  bool operator==(const Frame&) const = default;
};

/// A frame with the tightest strides over `data` (planes one after another). Returns the bytes needed; with
/// null `data` only that is computed.
std::size_t pack_frame(const FrameFormat& format, std::byte* data, Frame* out);

/// One channel group of one frame: all that a kernel or a CPU loop needs to read and write its samples in
/// place. Levels are the 0..255 scale: level = (sample >> shift) * levels_per_code.
struct GroupView {
  std::array<std::byte*, max_channels> channel{};
  std::array<std::ptrdiff_t, max_channels> stride{};
  std::byte* carry =
      nullptr;  ///< byte copied along with pixel x at carry + y * stride[0] + x * step; null: none
  int channels = 0;
  int step = 0;  ///< bytes
  int width = 0, height = 0;
  SampleType type = SampleType::u8;
  int shift = 0;
  int max_code = 255;           ///< largest code written (after the shift is undone)
  float levels_per_code = 1.f;  ///< 255 / max_code; 1 for f32
  bool chroma = false;
};

/// Group `index` of `frame`.
GroupView group_view(const Frame& frame, int index);

}  // namespace quietframe
