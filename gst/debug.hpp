// The debug category of the plugin, `GST_DEBUG=videodenoise:LEVEL`.
#pragma once
#include <gst/gst.h>

extern "C" GstDebugCategory* quietframe_debug_category;
#define GST_CAT_DEFAULT quietframe_debug_category
