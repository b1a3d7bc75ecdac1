// The GObject shell of the element: type, pads, state changes. Every function delegates.
#include "element.hpp"

#include "caps.hpp"
#include "debug.hpp"
#include "guard.hpp"

using quietframe::gst::BufferRef;
using quietframe::gst::EventRef;
using quietframe::gst::guard;
using quietframe::gst::VideoDenoise;

struct GstVideoDenoise {
  GstElement parent;
  VideoDenoise* impl;
};
struct GstVideoDenoiseClass {
  GstElementClass parent;
};

G_DEFINE_TYPE(GstVideoDenoise, gst_video_denoise, GST_TYPE_ELEMENT)

namespace {

enum : guint {
  prop_active_backend = 1,
  prop_active_noise_sigma,
  prop_stats,
  prop_roi,
  prop_mask,
  prop_first_from_rows
};

VideoDenoise& impl_of(gpointer object) { return *reinterpret_cast<GstVideoDenoise*>(object)->impl; }

GstFlowReturn chain(GstPad*, GstObject* parent, GstBuffer* buffer) {
  return guard(GST_ELEMENT(parent), GST_FLOW_ERROR, [&] { return impl_of(parent).chain(BufferRef(buffer)); });
}

gboolean sink_event(GstPad*, GstObject* parent, GstEvent* event) {
  return guard(GST_ELEMENT(parent), false, [&] { return impl_of(parent).sink_event(EventRef(event)); });
}

gboolean src_event(GstPad*, GstObject* parent, GstEvent* event) {
  return guard(GST_ELEMENT(parent), false, [&] { return impl_of(parent).src_event(EventRef(event)); });
}

gboolean sink_query(GstPad*, GstObject* parent, GstQuery* query) {
  return guard(GST_ELEMENT(parent), false, [&] { return impl_of(parent).sink_query(query); });
}

gboolean src_query(GstPad*, GstObject* parent, GstQuery* query) {
  return guard(GST_ELEMENT(parent), false, [&] { return impl_of(parent).src_query(query); });
}

gboolean activate_sink(GstPad*, GstObject* parent, GstPadMode mode, gboolean active) {
  return mode == GST_PAD_MODE_PUSH && impl_of(parent).activate_sink(active);
}

gboolean activate_src(GstPad*, GstObject* parent, GstPadMode mode, gboolean active) {
  return mode == GST_PAD_MODE_PUSH && impl_of(parent).activate_src(active);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  auto& impl = impl_of(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    const bool started = guard(element, false, [&] {
      impl.start();
      return true;
    });
    if (!started) return GST_STATE_CHANGE_FAILURE;
    g_object_notify(G_OBJECT(element), "active-backend");
  }
  const auto result = GST_ELEMENT_CLASS(gst_video_denoise_parent_class)->change_state(element, transition);
  const bool failed_start =
      transition == GST_STATE_CHANGE_READY_TO_PAUSED && result == GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY || failed_start) {
    impl.stop();
    g_object_notify(G_OBJECT(element), "active-backend");
  }
  return result;
}

void set_context(GstElement* element, GstContext* context) {
  impl_of(element).set_context(context);
  GST_ELEMENT_CLASS(gst_video_denoise_parent_class)->set_context(element, context);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  auto& impl = impl_of(object);
  std::vector<std::string> changed;
  if (id == prop_roi)
    impl.region.set_roi(value);
  else if (id == prop_mask)
    impl.region.set_mask(g_value_get_string(value));
  else if (!impl.properties.set(id, value, &changed))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  for (const auto& name : changed) g_object_notify(object, name.c_str());
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  auto& impl = impl_of(object);
  if (id == prop_active_backend) {
    g_value_set_string(value, impl.active_backend());
  } else if (id == prop_active_noise_sigma) {
    g_value_set_float(value, impl.stats.noise_sigma());
  } else if (id == prop_stats) {
    impl.want_timing();
    g_value_take_boxed(value, impl.stats.structure());
  } else if (id == prop_roi) {
    impl.region.get_roi(value);
  } else if (id == prop_mask) {
    g_value_set_string(value, impl.region.mask_location().c_str());
  } else if (!impl.properties.get(id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void finalize(GObject* object) {
  delete reinterpret_cast<GstVideoDenoise*>(object)->impl;
  G_OBJECT_CLASS(gst_video_denoise_parent_class)->finalize(object);
}

void install_properties(GObjectClass* object) {
  g_object_class_install_property(
      object, prop_active_backend,
      g_param_spec_string("active-backend", "active-backend",
                          "The backend in use: cuda, cpu, or none while the element is not running", "none",
                          static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  g_object_class_install_property(
      object, prop_active_noise_sigma,
      g_param_spec_float("active-noise-sigma", "active-noise-sigma",
                         "Noise sigma that the last frame was filtered with, luma or the first channel "
                         "[levels]; -1: none was",
                         -1.f, G_MAXFLOAT, -1.f,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  g_object_class_install_property(
      object, prop_stats,
      g_param_spec_boxed(
          "stats", "stats",
          "Frames in, out and dropped, times in microseconds, noise sigma, memory path. Upload, "
          "kernel and download are timed from the first reading on",
          GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  g_object_class_install_property(object, prop_roi, quietframe::gst::roi_spec());
  g_object_class_install_property(object, prop_mask, quietframe::gst::mask_spec());
  quietframe::gst::Properties::install(object, prop_first_from_rows);
}

GstPad* add_pad(GstElement* element, const char* name) {
  auto* klass = GST_ELEMENT_GET_CLASS(element);
  auto* pad = gst_pad_new_from_template(gst_element_class_get_pad_template(klass, name), name);
  gst_element_add_pad(element, pad);
  return pad;
}

}  // namespace

static void gst_video_denoise_init(GstVideoDenoise* self) {
  auto* element = GST_ELEMENT(self);
  auto* sink = add_pad(element, "sink");
  gst_pad_set_chain_function(sink, GST_DEBUG_FUNCPTR(chain));
  gst_pad_set_event_function(sink, GST_DEBUG_FUNCPTR(sink_event));
  gst_pad_set_query_function(sink, GST_DEBUG_FUNCPTR(sink_query));
  gst_pad_set_activatemode_function(sink, GST_DEBUG_FUNCPTR(activate_sink));
  auto* src = add_pad(element, "src");
  gst_pad_set_event_function(src, GST_DEBUG_FUNCPTR(src_event));
  gst_pad_set_query_function(src, GST_DEBUG_FUNCPTR(src_query));
  gst_pad_set_activatemode_function(src, GST_DEBUG_FUNCPTR(activate_src));
  self->impl = new VideoDenoise(element, sink, src);
}

static void gst_video_denoise_class_init(GstVideoDenoiseClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);

  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  element->set_context = set_context;
  gst_element_class_set_static_metadata(element, "Video denoiser", "Filter/Effect/Video",
                                        "Removes noise from video in real time, on NVIDIA GPUs or on the CPU",
                                        "The quietframe maintainers");
  auto* caps = quietframe::gst::supported_caps(quietframe::gst::cuda_memory_may_be_used());
  gst_caps_append(caps, quietframe::gst::passthrough_caps());
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}
