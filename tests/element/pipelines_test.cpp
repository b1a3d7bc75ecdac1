// Pipelines as users type them, run to their end: a test source stands in for a camera, and what a machine
// has no plugin for is skipped.
#include <glib/gstdio.h>

#include <filesystem>
#include <fstream>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

constexpr GstClockTime limit = 60 * GST_SECOND;

// A folder that is removed again.
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

// What came out of the element named `d` of a pipeline, or of its last videodenoise.
struct Played {
  std::string error;
  unsigned frames = 0;
  std::vector<GstClockTime> times;
  std::vector<std::string> sizes;  ///< one for each CAPS event
};

bool have(std::initializer_list<const char*> elements) {
  for (const char* name : elements) {
    auto* factory = gst_element_factory_find(name);
    if (!factory) return false;
    gst_object_unref(factory);
  }
  return true;
}

GstPadProbeReturn record(GstPad*, GstPadProbeInfo* info, gpointer data) {
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

  // Plays until the end of the stream, an error, or the limit.
  const Played& play() {
    if (!pipeline_) return played_;
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    wait_for(static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    return played_;
  }

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

Played play(const std::string& text) { return Pipeline(text).play(); }

void expect_frames(const std::string& text, unsigned frames) {
  const auto played = play(text);
  EXPECT_EQ(played.error, "") << text;
  EXPECT_EQ(played.frames, frames) << text;
}

// `typed` with the camera replaced by a test source.
std::string with_source(std::string typed, const std::string& source, const std::string& test_source) {
  typed.replace(typed.find(source), source.size(), test_source);
  return typed;
}

TEST(Pipelines, TestSourceToDisplay) {
  expect_frames(with_source("videotestsrc ! videodenoise ! autovideosink", "videotestsrc",
                            "videotestsrc num-buffers=10"),
                10);
}

TEST(Pipelines, CameraToDisplay) {
  expect_frames(with_source("v4l2src ! videodenoise ! videoconvert ! autovideosink", "v4l2src",
                            "videotestsrc is-live=true num-buffers=10"),
                10);
}

TEST(Pipelines, UltrasoundByCaptureCard) {
  expect_frames(with_source("v4l2src ! video/x-raw,format=YUY2,width=1920,height=1080,framerate=60/1 ! "
                            "videodenoise filter=nlm nlm-search-radius=2 noise-sigma=20 ! fakesink",
                            "v4l2src", "videotestsrc num-buffers=2"),
                2);
}

TEST(Pipelines, MachineVisionTwelveBits) {
  expect_frames(with_source("aravissrc ! video/x-raw,format=GRAY16_LE ! videodenoise bit-depth=12 ! fakesink",
                            "aravissrc", "videotestsrc num-buffers=5"),
                5);
}

TEST(Pipelines, StaysOnTheGpu) {
  if (!have({"cudaupload", "nvh264dec", "nvh264enc"})) GTEST_SKIP() << "no nvcodec elements on this machine";
  expect_frames(
      "videotestsrc num-buffers=10 ! video/x-raw,format=NV12 ! cudaupload ! videodenoise ! nvh264enc ! "
      "fakesink",
      10);
  expect_frames(
      "videotestsrc num-buffers=10 ! nvh264enc ! h264parse ! nvh264dec ! videodenoise ! nvh264enc ! fakesink",
      10);
}

TEST(Pipelines, AppsrcToAppsink) {
  Pipeline p(
      "appsrc name=in caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1 format=time ! "
      "videodenoise ! appsink name=out");
  ASSERT_EQ(p.played().error, "");
  auto* in = gst_bin_get_by_name(GST_BIN(p.get()), "in");
  auto* out = gst_bin_get_by_name(GST_BIN(p.get()), "out");
  gst_element_set_state(p.get(), GST_STATE_PLAYING);
  Harness frames("", gray_caps);
  GstFlowReturn flow;
  for (unsigned i = 0; i < 5; ++i) {
    auto* frame = frames.frame(i);
    g_signal_emit_by_name(in, "push-buffer", frame, &flow);
    EXPECT_EQ(flow, GST_FLOW_OK);
    gst_buffer_unref(frame);
    GstSample* sample = nullptr;
    g_signal_emit_by_name(out, "try-pull-sample", limit, &sample);
    ASSERT_TRUE(sample) << i;
    EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(sample)), i * frame_time);
    gst_sample_unref(sample);
  }
  g_signal_emit_by_name(in, "end-of-stream", &flow);
  gst_object_unref(in);
  gst_object_unref(out);
}

// A clip of JPEG frames in an AVI file.
void write_clip(const std::string& location, unsigned frames) {
  const auto written = play("videotestsrc num-buffers=" + std::to_string(frames) +
                            " ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! jpegenc ! "
                            "avimux ! filesink location=" +
                            location);
  ASSERT_EQ(written.error, "");
}

TEST(Pipelines, FileThroughDecodebinToAnEncoder) {
  const Folder folder;
  write_clip(folder / "clip.avi", 20);
  const std::string encoder = have({"x264enc"}) ? "x264enc" : "jpegenc";
  expect_frames("filesrc location=" + (folder / "clip.avi") + " ! decodebin ! videodenoise ! " + encoder +
                    " ! fakesink",
                20);
}

TEST(Pipelines, OneBranchOfATee) {
  Pipeline p(
      "videotestsrc num-buffers=20 ! video/x-raw,format=GRAY8,width=64,height=48 ! tee name=t "
      "t. ! queue ! videodenoise filter=gaussian ! fakesink t. ! queue ! fakesink");
  EXPECT_EQ(p.play().error, "");
  EXPECT_EQ(p.played().frames, 20U);
}

TEST(Pipelines, BetweenTwoVideorates) {
  const auto played = play(
      "videotestsrc num-buffers=30 ! video/x-raw,framerate=30/1 ! videorate ! "
      "video/x-raw,framerate=60/1 ! videodenoise ! videorate ! video/x-raw,framerate=15/1 ! fakesink");
  EXPECT_EQ(played.error, "");
  EXPECT_NEAR(played.frames, 60, 2);
}

TEST(Pipelines, PlayedBackwards) {
  const Folder folder;
  write_clip(folder / "clip.avi", 25);
  Pipeline p("filesrc location=" + (folder / "clip.avi") +
             " ! avidemux ! jpegdec ! videodenoise filter=gaussian async-depth=4 ! fakesink sync=false");
  ASSERT_EQ(p.played().error, "");
  gst_element_set_state(p.get(), GST_STATE_PAUSED);
  p.wait_for(static_cast<GstMessageType>(GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR));
  ASSERT_EQ(p.played().error, "");
  ASSERT_TRUE(gst_element_seek(p.get(), -1.0, GST_FORMAT_TIME,
                               static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE),
                               GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, GST_SECOND));
  p.wait_for(static_cast<GstMessageType>(GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR));
  auto& times = p.played().times;
  const auto before_seek = times.size();
  EXPECT_EQ(p.play().error, "");
  EXPECT_GE(times.size(), 24U);
  EXPECT_LE(before_seek, 8U);
  for (std::size_t i = before_seek; i + 1 < times.size(); ++i) EXPECT_GT(times[i], times[i + 1]) << i;
}

// Pictures of other sizes one after another: the decoder changes caps in mid-stream.
TEST(Pipelines, SizeChangesInMidStream) {
  const Folder folder;
  const char* sizes[] = {"152x100", "640x320", "1280x720", "151x99"};
  int number = 0;
  for (const char* size : sizes)
    for (int i = 0; i < 3; ++i) {
      int w = 0, h = 0;
      std::sscanf(size, "%dx%d", &w, &h);
      const auto made =
          play("videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=" + std::to_string(w) +
               ",height=" + std::to_string(h) + " ! jpegenc ! filesink location=" +
               (folder / ("00" + std::to_string(number)).substr(number > 9 ? 1 : 0)) + ".jpg");
      ASSERT_EQ(made.error, "");
      ++number;
    }
  const auto played =
      play("multifilesrc location=" + (folder / "%03d.jpg") +
           " stop-index=11 caps=image/jpeg,framerate=25/1 ! jpegdec ! videodenoise filter=gaussian "
           "async-depth=4 ! fakesink");
  EXPECT_EQ(played.error, "");
  EXPECT_EQ(played.frames, 12U);
  EXPECT_EQ(played.sizes, std::vector<std::string>(std::begin(sizes), std::end(sizes)));
}

// The same with real H.264 streams, cut together: QF_SIZE_CHANGE_CLIP names the file (152x100, 640x320,
// 1280x720, 152x100).
TEST(Pipelines, SizeChangesInARealClip) {
  const char* clip = g_getenv("QF_SIZE_CHANGE_CLIP");
  if (!clip) GTEST_SKIP() << "QF_SIZE_CHANGE_CLIP is not set";
  const auto played = play("filesrc location=" + std::string(clip) +
                           " ! h264parse ! avdec_h264 ! videodenoise filter=gaussian ! fakesink");
  EXPECT_EQ(played.error, "");
  EXPECT_EQ(played.sizes, (std::vector<std::string>{"152x100", "640x320", "1280x720", "152x100"}));
}

TEST(Pipelines, OneElementAfterAnother) {
  for (int i = 0; i < 3; ++i)
    expect_frames(
        "videotestsrc num-buffers=10 ! videodenoise filter=gaussian ! videodenoise filter=median ! fakesink",
        10);
}

}  // namespace
}  // namespace quietframe::test
