// The table of pixel formats, and the arithmetic of planes and groups over it.
#include "pixel_format.hpp"

#include <algorithm>

namespace quietframe {
namespace {

constexpr GroupInfo gray(int step) { return {1, {{{0, 0}}}, static_cast<std::int8_t>(step), 0, 0, false}; }
constexpr GroupInfo chroma(ChannelInfo u, ChannelInfo v, int step, int sub_x, int sub_y) {
  return {2,
          {{u, v}},
          static_cast<std::int8_t>(step),
          static_cast<std::int8_t>(sub_x),
          static_cast<std::int8_t>(sub_y),
          true};
}
constexpr GroupInfo luma(int offset, int step) {
  return {1, {{{0, static_cast<std::int8_t>(offset)}}}, static_cast<std::int8_t>(step), 0, 0, false};
}
constexpr GroupInfo rgb(int r, int g, int b, int step) {
  auto at = [](int o) { return ChannelInfo{0, static_cast<std::int8_t>(o)}; };
  return {3, {{at(r), at(g), at(b)}}, static_cast<std::int8_t>(step), 0, 0, false};
}
constexpr FormatInfo mono(PixelFormat f, const char* name, SampleType t, int depth, int step) {
  return {f, name, t, static_cast<std::int8_t>(depth), 0, 1, 1, {{gray(step)}}, -1};
}
constexpr FormatInfo yuv(PixelFormat f, const char* name, SampleType t, int depth, int shift, int planes,
                         GroupInfo y, GroupInfo c) {
  return {f,
          name,
          t,
          static_cast<std::int8_t>(depth),
          static_cast<std::int8_t>(shift),
          static_cast<std::int8_t>(planes),
          2,
          {{y, c}},
          -1};
}
constexpr FormatInfo packed(PixelFormat f, const char* name, int r, int g, int b, int step, int carry) {
  return {f, name, SampleType::u8, 8, 0, 1, 1, {{rgb(r, g, b, step)}}, static_cast<std::int8_t>(carry)};
}

using P = PixelFormat;
using S = SampleType;
constexpr FormatInfo formats[] = {
    mono(P::gray8, "GRAY8", S::u8, 8, 1),
    mono(P::gray16_le, "GRAY16_LE", S::u16_le, 16, 2),
    mono(P::gray16_be, "GRAY16_BE", S::u16_be, 16, 2),
    yuv(P::i420, "I420", S::u8, 8, 0, 3, gray(1), chroma({1, 0}, {2, 0}, 1, 1, 1)),
    // GStreamer numbers YV12's planes as they lie in memory: plane 1 is V, plane 2 is U.
    yuv(P::yv12, "YV12", S::u8, 8, 0, 3, gray(1), chroma({2, 0}, {1, 0}, 1, 1, 1)),
    yuv(P::nv12, "NV12", S::u8, 8, 0, 2, gray(1), chroma({1, 0}, {1, 1}, 2, 1, 1)),
    yuv(P::nv21, "NV21", S::u8, 8, 0, 2, gray(1), chroma({1, 1}, {1, 0}, 2, 1, 1)),
    yuv(P::y42b, "Y42B", S::u8, 8, 0, 3, gray(1), chroma({1, 0}, {2, 0}, 1, 1, 0)),
    yuv(P::y444, "Y444", S::u8, 8, 0, 3, gray(1), chroma({1, 0}, {2, 0}, 1, 0, 0)),
    yuv(P::i420_10le, "I420_10LE", S::u16_le, 10, 0, 3, gray(2), chroma({1, 0}, {2, 0}, 2, 1, 1)),
    yuv(P::p010_10le, "P010_10LE", S::u16_le, 10, 6, 2, gray(2), chroma({1, 0}, {1, 2}, 4, 1, 1)),
    yuv(P::yuy2, "YUY2", S::u8, 8, 0, 1, luma(0, 2), chroma({0, 1}, {0, 3}, 4, 1, 0)),
    yuv(P::uyvy, "UYVY", S::u8, 8, 0, 1, luma(1, 2), chroma({0, 0}, {0, 2}, 4, 1, 0)),
    packed(P::rgb, "RGB", 0, 1, 2, 3, -1),
    packed(P::bgr, "BGR", 2, 1, 0, 3, -1),
    packed(P::rgbx, "RGBx", 0, 1, 2, 4, 3),
    packed(P::bgrx, "BGRx", 2, 1, 0, 4, 3),
    packed(P::xrgb, "xRGB", 1, 2, 3, 4, 0),
    packed(P::xbgr, "xBGR", 3, 2, 1, 4, 0),
    packed(P::rgba, "RGBA", 0, 1, 2, 4, 3),
    packed(P::bgra, "BGRA", 2, 1, 0, 4, 3),
    packed(P::argb, "ARGB", 1, 2, 3, 4, 0),
    packed(P::abgr, "ABGR", 3, 2, 1, 4, 0),
    mono(P::gray_f32, "GRAY_F32", S::f32, 32, 4),
    {P::rgb_f32, "RGB_F32", S::f32, 32, 0, 1, 1, {{rgb(0, 4, 8, 12)}}, -1},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(formats); ++i)
    if (static_cast<std::size_t>(formats[i].format) != i) return false;
  return true;
}
static_assert(in_order(), "formats[] follows the enumerators");

}  // namespace

std::span<const FormatInfo> all_formats() { return formats; }

const FormatInfo& format_info(PixelFormat format) { return formats[static_cast<std::size_t>(format)]; }

const FormatInfo* find_format(std::string_view gst_name) {
  const auto* it =
      std::ranges::find(formats, gst_name, [](const FormatInfo& f) { return std::string_view(f.name); });
  return it == std::end(formats) ? nullptr : it;
}

PlaneSize plane_size(const FormatInfo& info, int plane, int width, int height) {
  PlaneSize size{0, 0};
  for (int g = 0; g < info.groups; ++g)
    for (int c = 0; c < info.group[g].channels; ++c) {
      const auto& group = info.group[g];
      if (group.channel[c].plane != plane) continue;
      size.rows = std::max(size.rows, group_height(group, height));
      size.row_bytes =
          std::max<std::ptrdiff_t>(size.row_bytes, std::ptrdiff_t{group.step} * group_width(group, width));
    }
  return size;
}

bool has_orphan_luma(const FrameFormat& format) {
  const auto& info = format_info(format.format);
  return info.planes == 1 && info.groups == 2 && format.width % 2 == 1;
}

std::size_t pack_frame(const FrameFormat& format, std::byte* data, Frame* out) {
  const auto& info = format_info(format.format);
  std::size_t bytes = 0;
  if (out) *out = Frame{format, {}, {}, MemoryKind::pageable};
  for (int p = 0; p < info.planes; ++p) {
    const auto size = plane_size(info, p, format.width, format.height);
    if (out) {
      out->plane[p] = data ? data + bytes : nullptr;
      out->stride[p] = size.row_bytes;
    }
    bytes += static_cast<std::size_t>(size.rows) * static_cast<std::size_t>(size.row_bytes);
  }
  return bytes;
}

GroupView group_view(const Frame& frame, int index) {
  const auto& info = format_info(frame.format.format);
  const auto& group = info.group[index];
  GroupView v;
  v.channels = group.channels;
  v.step = group.step;
  v.width = group_width(group, frame.format.width);
  v.height = group_height(group, frame.format.height);
  v.type = info.type;
  v.shift = info.shift;
  v.chroma = group.chroma;
  for (int c = 0; c < group.channels; ++c) {
    const auto ch = group.channel[c];
    v.channel[c] = frame.plane[ch.plane] + ch.offset;
    v.stride[c] = frame.stride[ch.plane];
  }
  if (info.carry_offset >= 0) v.carry = frame.plane[0] + info.carry_offset;
  const bool container16 =
      frame.format.format == PixelFormat::gray16_le || frame.format.format == PixelFormat::gray16_be;
  const int depth = container16 && frame.format.bit_depth > 0 ? frame.format.bit_depth : info.depth;
  if (info.type != SampleType::f32) {
    v.max_code = (1 << depth) - 1;
    v.levels_per_code = 255.f / static_cast<float>(v.max_code);
  }
  return v;
}

}  // namespace quietframe
