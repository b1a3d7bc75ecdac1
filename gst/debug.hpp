// The debug category of the plugin, `GST_DEBUG=videodenoise:LEVEL`.
#pragma once
#include <gst/gst.h>

namespace quietframe::gst {

inline GstDebugCategory* debug_category() {
  static GstDebugCategory* const category = _gst_debug_category_new("videodenoise", 0, "video denoising");
  return category;
}

}  // namespace quietframe::gst

#define GST_CAT_DEFAULT ::quietframe::gst::debug_category()
