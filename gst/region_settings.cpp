// Rectangles from the property and from metas, cut to one another.
#include "region_settings.hpp"

#include <gst/video/video.h>

#include <algorithm>

#include "caps.hpp"
#include "debug.hpp"
#include "mask_file.hpp"
#include "processor.hpp"

namespace quietframe::gst {
namespace {

constexpr auto flags =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);

// A side of 0 reaches to the frame's edge.
Rect opened(Rect r) {
  if (r.width == 0) r.width = max_size;
  if (r.height == 0) r.height = max_size;
  return r;
}

Rect intersection(const Rect& a, const Rect& b) {
  const int x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::max(0, std::min(a.x + a.width, b.x + b.width) - x),
          std::max(0, std::min(a.y + a.height, b.y + b.height) - y)};
}

Rect rect_of(const GstVideoRegionOfInterestMeta& meta) {
  auto clamp = [](guint v) { return static_cast<int>(std::min<guint>(v, max_size)); };
  return {clamp(meta.x), clamp(meta.y), clamp(meta.w), clamp(meta.h)};
}

}  // namespace

bool RegionSettings::set_roi(const GValue* value) {
  int number[4] = {0, 0, 0, 0};
  const auto size = gst_value_array_get_size(value);
  if (size != std::size(number)) {
    g_warning("videodenoise: roi takes four numbers, <x, y, width, height>; it was given %u", size);
    return false;
  }
  for (guint i = 0; i < size; ++i)
    number[i] = std::clamp(g_value_get_int(gst_value_array_get_value(value, i)), 0, max_size);
  const std::lock_guard lock(mutex_);
  roi_ = {number[0], number[1], number[2], number[3]};
  return true;
}

void RegionSettings::get_roi(GValue* value) const {
  std::unique_lock lock(mutex_);
  const auto roi = roi_;
  lock.unlock();
  for (const int n : {roi.x, roi.y, roi.width, roi.height}) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, n);
    gst_value_array_append_and_take_value(value, &item);
  }
}

void RegionSettings::set_mask(const char* location) {
  std::shared_ptr<const Mask> mask;
  std::string error;
  const std::string name = location ? location : "";
  if (!name.empty()) try {
      mask = read_mask(name);
    } catch (const std::exception& e) {
      error = e.what();
    }
  const std::lock_guard lock(mutex_);
  location_ = name;
  error_ = error;
  mask_ = std::move(mask);
}

std::string RegionSettings::mask_location() const {
  const std::lock_guard lock(mutex_);
  return location_;
}

void RegionSettings::check() const {
  const std::lock_guard lock(mutex_);
  if (!error_.empty()) throw Error(error_);
}

void RegionSettings::apply(FrameSettings& frame, GstBuffer* buffer, bool from_meta) {
  check();
  auto& region = frame.region;
  std::unique_lock lock(mutex_);
  const auto roi = roi_;
  frame.mask = mask_;
  lock.unlock();
  region.limited = from_meta || roi != Rect{};
  region.count = 0;
  if (!from_meta) {
    if (region.limited) region.rects[static_cast<std::size_t>(region.count++)] = opened(roi);
    return;
  }
  gpointer state = nullptr;
  while (auto* meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    if (region.count == max_rects) {
      if (!warned_.exchange(true))
        GST_WARNING("a frame has more than %d regions of interest; the others pass untouched", max_rects);
      return;
    }
    const auto& area = *reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    region.rects[static_cast<std::size_t>(region.count++)] = intersection(opened(roi), rect_of(area));
  }
}

GParamSpec* roi_spec() {
  auto* item = g_param_spec_int("number", "number", "x, y, width or height [pixels]", 0, max_size, 0, flags);
  return gst_param_spec_array(
      "roi", "roi",
      "Filter inside of <x, y, width, height> alone; outside of it frames stay as they "
      "are, bit for bit. A width or height of 0 reaches to the frame's edge [pixels]",
      item, flags);
}

GParamSpec* mask_spec() {
  return g_param_spec_string(
      "mask", "mask",
      "PNG file of the frames' size: where it is white frames are filtered, where it is "
      "black they stay as they are, bit for bit",
      nullptr, flags);
}

}  // namespace quietframe::gst
