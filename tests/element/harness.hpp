// What the element tests share: a GstHarness with an owner, frames with recognisable pixels, and readings of
// them.
#pragma once
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quietframe::test {

struct MiniObjectUnref {
  void operator()(void* p) const { gst_mini_object_unref(GST_MINI_OBJECT_CAST(p)); }
};
using Buffer = std::unique_ptr<GstBuffer, MiniObjectUnref>;
using Event = std::unique_ptr<GstEvent, MiniObjectUnref>;

inline constexpr GstClockTime frame_time = 20 * GST_MSECOND;  ///< the harness runs at 50 frames/s

/// The backend that the tests run on: "cpu", or what the environment variable QF_TEST_BACKEND says.
inline std::string backend() {
  const char* text = std::getenv("QF_TEST_BACKEND");
  return text ? text : "cpu";
}

/// `videodenoise` in a harness, on backend() unless `settings` say otherwise ("filter=median
/// async-depth=8").
class Harness {
 public:
  explicit Harness(const std::string& settings = "", const std::string& caps = "") {
    harness_ = gst_harness_new_parse(("videodenoise name=d backend=" + backend() + " " + settings).c_str());
    element_ = gst_bin_get_by_name(GST_BIN(harness_->element), "d");
    bus_ = gst_bus_new();
    gst_element_set_bus(harness_->element, bus_);
    if (!caps.empty()) set_caps(caps);
  }
  ~Harness() { close(); }
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  /// Ends the harness; safe to call twice.
  void close() {
    if (!harness_) return;
    gst_element_set_bus(harness_->element, nullptr);
    gst_object_unref(bus_);
    gst_object_unref(element_);
    gst_harness_teardown(harness_);
    harness_ = nullptr;
  }

  GstHarness* get() { return harness_; }
  GstElement* element() { return element_; }

  void set_caps(const std::string& caps) {
    caps_ = caps;
    gst_harness_set_src_caps_str(harness_, caps.c_str());
    auto* parsed = gst_caps_from_string(caps.c_str());
    ASSERT_TRUE(gst_video_info_from_caps(&info_, parsed)) << caps;
    gst_caps_unref(parsed);
  }
  const GstVideoInfo& info() const { return info_; }

  /// Frame `index` of the current caps: pixels from a generator seeded with it, timestamps at 50 frames/s.
  GstBuffer* frame(unsigned index) const {
    auto* buffer = gst_buffer_new_allocate(nullptr, info_.size, nullptr);
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    std::uint32_t state = index * 2654435761U + 1;
    for (gsize i = 0; i < map.size; ++i) {
      state = state * 1664525U + 1013904223U;
      map.data[i] = static_cast<guint8>(96 + ((state >> 24) & 63));
    }
    gst_buffer_unmap(buffer, &map);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = index * frame_time;
    GST_BUFFER_DURATION(buffer) = frame_time;
    GST_BUFFER_OFFSET(buffer) = index;
    GST_BUFFER_OFFSET_END(buffer) = index + 1;
    return buffer;
  }

  GstFlowReturn push(GstBuffer* buffer) { return gst_harness_push(harness_, buffer); }
  GstFlowReturn push(unsigned index) { return push(frame(index)); }
  bool push_event(GstEvent* event) { return gst_harness_push_event(harness_, event); }
  /// The next frame out; null when none comes within the harness's time-out.
  Buffer pull() { return Buffer(gst_harness_pull(harness_)); }
  bool eos() { return push_event(gst_event_new_eos()); }
  unsigned received() { return gst_harness_buffers_received(harness_); }

  /// Sets one property from its text.
  void set(const char* name, const char* value) { gst_util_set_object_arg(G_OBJECT(element_), name, value); }

  /// The text of the first error on the bus, or "" when there is none.
  std::string error() {
    auto* message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR);
    if (!message) return "";
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::string text = error->message;
    g_error_free(error);
    gst_message_unref(message);
    return text;
  }
  GstBus* bus() { return bus_; }

 private:
  GstHarness* harness_;
  GstElement* element_;
  GstBus* bus_;
  std::string caps_;
  GstVideoInfo info_;
};

/// Everything that leaves the element's source pad, in order: "0", "1" for frames by their offset, events by
/// name.
class Recorder {
 public:
  explicit Recorder(GstElement* element) {
    pad_ = gst_element_get_static_pad(element, "src");
    id_ = gst_pad_add_probe(
        pad_, static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
        record, this, nullptr);
  }
  ~Recorder() {
    gst_pad_remove_probe(pad_, id_);
    gst_object_unref(pad_);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  static GstPadProbeReturn record(GstPad*, GstPadProbeInfo* info, gpointer self) {
    auto& recorder = *static_cast<Recorder*>(self);
    const std::lock_guard lock(recorder.mutex_);
    if (!recorder.text_.empty()) recorder.text_ += ' ';
    recorder.text_ += GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER
                          ? std::to_string(GST_BUFFER_OFFSET(GST_PAD_PROBE_INFO_BUFFER(info)))
                          : GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info));
    return GST_PAD_PROBE_OK;
  }

  std::mutex mutex_;
  std::string text_;
  GstPad* pad_;
  gulong id_;
};

inline std::vector<std::uint8_t> bytes(GstBuffer* buffer) {
  std::vector<std::uint8_t> data(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, data.data(), data.size());
  return data;
}
inline std::vector<std::uint8_t> bytes(const Buffer& buffer) { return bytes(buffer.get()); }

inline const char* gray_caps = "video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1";

}  // namespace quietframe::test
