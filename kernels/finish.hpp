// What is done to a frame after its filter: the input's bytes outside of the region, and the previews. CPU
// and CUDA share these functions, so that they agree on every sample.
#pragma once
#include "sample.hpp"
#include "settings.hpp"

namespace quietframe {

inline constexpr int difference_gain = 8;

/// One group of one frame; plain data, as a kernel takes it.
struct Finish {
  Region region;
  const std::uint8_t* mask = nullptr;  ///< frame_width x frame_height bytes where the group is, or null
  int frame_width = 0, frame_height = 0;
  int left = 0;  ///< pixels left of this column are the input's
  int sub_x = 0, sub_y = 0;
  Preview preview = Preview::off;
  bool chroma = false;
  int shift = 0, max_code = 255;
};

/// Whether frames with these settings need finishing at all.
inline bool needs_finish(const FrameSettings& s) {
  return s.region.limited || s.mask || s.common.preview != Preview::off;
}

/// The finish of group `group`; `mask` is the mask's pixels, where the group is, or null.
Finish finish_of(const FrameFormat& format, int group, const Region& region, Preview preview,
                 const std::uint8_t* mask);

/// Throws Error when the mask does not have the frame's size.
void check_mask(const Mask& mask, const FrameFormat& format);

/// Finishes rows begin..end-1 of a group on the CPU.
void finish_rows(const Finish& f, const GroupView& in, const GroupView& out, int begin, int end);

QF_HD inline bool filters_pixel(const Finish& f, int x, int y) {
  if (x < f.left) return false;
  if (f.mask && f.mask[std::ptrdiff_t{y} * f.frame_width + x] == 0) return false;
  if (!f.region.limited) return true;
  for (int i = 0; i < f.region.count; ++i) {
    const Rect& r = f.region.rects[static_cast<std::size_t>(i)];
    if (x >= r.x && y >= r.y && x - r.x < r.width && y - r.y < r.height) return true;
  }
  return false;
}

/// Whether sample (x, y) of the group is filtered: only where every pixel that it colours is. So no pixel
/// outside of the region changes, its chroma included.
QF_HD inline bool filters_sample(const Finish& f, int x, int y) {
  for (int dy = 0; dy < 1 << f.sub_y; ++dy)
    for (int dx = 0; dx < 1 << f.sub_x; ++dx) {
      const int px = (x << f.sub_x) + dx, py = (y << f.sub_y) + dy;
      if (px < f.frame_width && py < f.frame_height && !filters_pixel(f, px, py)) return false;
    }
  return true;
}

template <SampleType S>
QF_HD inline void finish_sample(const Finish& f, const std::byte* in, std::byte* out, int x, int y) {
  constexpr int bytes = S == SampleType::u8 ? 1 : S == SampleType::f32 ? 4 : 2;
  const bool filtered = filters_sample(f, x, y);
  const bool difference = f.preview == Preview::difference;
  if (!difference && f.preview != Preview::noise) {
    if (!filtered)
      for (int b = 0; b < bytes; ++b) out[b] = in[b];
    return;
  }
  if constexpr (S == SampleType::f32) {
    const float before = load_level<S>(in, 0, 1.f), after = filtered ? load_level<S>(out, 0, 1.f) : before;
    const float removed = before - after;
    *reinterpret_cast<float*>(out) =
        difference ? difference_gain * (removed < 0.f ? -removed : removed) : 128.f + removed;
  } else {
    const int middle = (f.max_code + 1) / 2;
    const int before = load_code<S>(in, f.shift), after = filtered ? load_code<S>(out, f.shift) : before;
    const int removed = before - after;
    int code = middle + removed;
    if (difference) code = f.chroma ? middle : difference_gain * (removed < 0 ? -removed : removed);
    store_code<S>(out, f.shift, code < 0 ? 0 : code > f.max_code ? f.max_code : code);
  }
}

}  // namespace quietframe
