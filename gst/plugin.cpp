// Registers the element. Touches no GPU: a machine without a driver loads, inspects and runs the plugin.
#include "debug.hpp"
#include "element.hpp"

static gboolean plugin_init(GstPlugin* plugin) {
  quietframe::gst::debug_category();  // so that --gst-debug-help lists it
  return gst_element_register(plugin, "videodenoise", GST_RANK_NONE, gst_video_denoise_get_type());
}

#define PACKAGE "quietframe"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, quietframe,
                  "Real-time video denoising on NVIDIA GPUs and on the CPU", plugin_init, QF_VERSION,
                  "MIT/X11", "quietframe", QF_ORIGIN)
