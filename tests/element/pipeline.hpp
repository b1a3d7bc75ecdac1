// What tests with whole pipelines share: one that is played to its end, and what came out of the element in
// it.
#pragma once
#include <glib/gstdio.h>

#include <filesystem>
#include <initializer_list>

#include "element/harness.hpp"

namespace quietframe::test {

inline constexpr GstClockTime limit = 60 * GST_SECOND;  ///< of every wait

/// A folder that is removed again.
class Folder {
 public:
  Folder() : path_(g_dir_make_tmp(nullptr, nullptr)) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  const std::filesystem::path path_;
};

/// What came out of the first videodenoise of a pipeline.
struct Played {
  std::string error;
  unsigned frames = 0;
  std::vector<GstClockTime> times;
  std::vector<std::string> sizes;  ///< one for each CAPS event
};

/// Whether all of these elements are installed.
inline bool have(std::initializer_list<const char*> elements) {
  for (const char* name : elements) {
    auto* factory = gst_element_factory_find(name);
    if (!factory) return false;
    gst_object_unref(factory);
  }
  return true;
}

/// A probe that writes into a Played.
inline GstPadProbeReturn record(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto& played = *static_cast<Played*>(data);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    ++played.frames;
    played.times.push_back(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)));
  } else if (auto* event = GST_PAD_PROBE_INFO_EVENT(info); GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    int w = 0, h = 0;
    gst_structure_get(gst_caps_get_structure(caps, 0), "width", G_TYPE_INT, &w, "height", G_TYPE_INT, &h,
                      nullptr);
    played.sizes.push_back(std::to_string(w) + "x" + std::to_string(h));
  }
  return GST_PAD_PROBE_OK;
}

/// A pipeline as gst-launch-1.0 takes it.
class Pipeline {
 public:
  explicit Pipeline(const std::string& text) {
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(text.c_str(), &error);
    if (error) played_.error = error->message;
    g_clear_error(&error);
    if (!pipeline_) return;
    gst_object_ref_sink(pipeline_);
    if (auto* element = find()) {
      auto* pad = gst_element_get_static_pad(element, "src");
      gst_pad_add_probe(
          pad, static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
          record, &played_, nullptr);
      gst_object_unref(pad);
      gst_object_unref(element);
    }
  }
  ~Pipeline() {
    if (!pipeline_) return;
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_object_unref(pipeline_);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  GstElement* get() { return pipeline_; }

  /// Plays until the end of the stream, an error, or the limit.
  const Played& play() {
    if (!pipeline_) return played_;
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    wait_for(static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    return played_;
  }

  /// Waits for one of these messages; an error, or none within the limit, is in played().error.
  void wait_for(GstMessageType types) {
    auto* bus = gst_element_get_bus(pipeline_);
    auto* message = gst_bus_timed_pop_filtered(bus, limit, types);
    gst_object_unref(bus);
    if (!message) {
      played_.error = "nothing happened within the limit";
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      played_.error = error->message;
      g_error_free(error);
    }
    if (message) gst_message_unref(message);
  }

  Played& played() { return played_; }

 private:
  GstElement* find() {
    auto* all = gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline_), "videodenoise");
    GValue item = G_VALUE_INIT;
    GstElement* element = nullptr;
    if (gst_iterator_next(all, &item) == GST_ITERATOR_OK) element = GST_ELEMENT(g_value_dup_object(&item));
    g_value_unset(&item);
    gst_iterator_free(all);
    return element;
  }

  GstElement* pipeline_ = nullptr;
  Played played_;
};

inline Played play(const std::string& text) { return Pipeline(text).play(); }

inline void expect_frames(const std::string& text, unsigned frames) {
  const auto played = play(text);
  EXPECT_EQ(played.error, "") << text;
  EXPECT_EQ(played.frames, frames) << text;
}

/// A clip of JPEG frames in an AVI file.
inline void write_clip(const std::string& location, unsigned frames) {
  const auto written = play("videotestsrc num-buffers=" + std::to_string(frames) +
                            " ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! jpegenc ! "
                            "avimux ! filesink location=" +
                            location);
  ASSERT_EQ(written.error, "");
}

}  // namespace quietframe::test
