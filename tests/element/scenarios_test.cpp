// What GStreamer's validate plays through a pipeline (seek_forward, seek_backward, scrub_forward_seeking,
// scrub_backward_seeking, fast_forward, reverse_playback, pause_resume, change_state_intensive), with a file,
// and changes of caps that downstream asks for.
#include "element/pipeline.hpp"

namespace quietframe::test {
namespace {

constexpr unsigned clip_frames = 50;
constexpr GstClockTime clip_frame_time = GST_SECOND / 25;

class Scenarios : public ::testing::Test {
 protected:
  void SetUp() override { write_clip(folder_ / "clip.avi", clip_frames); }

  std::string description(bool sync) const {
    return "filesrc location=" + (folder_ / "clip.avi") +
           " ! avidemux ! jpegdec ! videodenoise filter=gaussian async-depth=4 ! fakesink name=sink sync=" +
           (sync ? "true" : "false");
  }
  // Until the last state change, or seek, is through.
  static void settle(Pipeline& p) {
    ASSERT_EQ(gst_element_get_state(p.get(), nullptr, nullptr, limit), GST_STATE_CHANGE_SUCCESS);
  }
  static void reach(Pipeline& p, GstState state) {
    gst_element_set_state(p.get(), state);
    settle(p);
  }
  static void seek(Pipeline& p, double rate, GstClockTime from, GstClockTime to = GST_CLOCK_TIME_NONE) {
    ASSERT_TRUE(gst_element_seek(p.get(), rate, GST_FORMAT_TIME,
                                 static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE),
                                 GST_SEEK_TYPE_SET, static_cast<gint64>(from), GST_SEEK_TYPE_SET,
                                 static_cast<gint64>(to)));
    settle(p);
  }
  // The timestamp of the frame that the sink shows.
  static GstClockTime shown(Pipeline& p) {
    auto* sink = gst_bin_get_by_name(GST_BIN(p.get()), "sink");
    GstSample* sample = nullptr;
    g_object_get(sink, "last-sample", &sample, nullptr);
    gst_object_unref(sink);
    if (!sample) return GST_CLOCK_TIME_NONE;
    const GstClockTime time = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
    return time;
  }

  const Folder folder_;
};

// Every position is shown while paused, whichever was before.
TEST_F(Scenarios, ScrubbedForwardsAndBackwards) {
  Pipeline p(description(false));
  ASSERT_NO_FATAL_FAILURE(reach(p, GST_STATE_PAUSED));
  EXPECT_EQ(shown(p), 0U);
  for (const unsigned frame : {5, 12, 20, 31, 44, 49, 40, 33, 20, 12, 3, 0}) {
    ASSERT_NO_FATAL_FAILURE(seek(p, 1, frame * clip_frame_time));
    EXPECT_EQ(shown(p), frame * clip_frame_time) << frame;
  }
}

TEST_F(Scenarios, SeeksForwardsAndBackwardsWhilePlaying) {
  Pipeline p(description(true));
  ASSERT_NO_FATAL_FAILURE(reach(p, GST_STATE_PLAYING));
  for (const unsigned frame : {10, 25, 40, 25, 10, 0, 45}) {
    ASSERT_NO_FATAL_FAILURE(seek(p, 1, frame * clip_frame_time));
    const GstClockTime time = shown(p);
    EXPECT_GE(time, frame * clip_frame_time);
    EXPECT_LE(time, (frame + 5) * clip_frame_time) << frame;
  }
  EXPECT_EQ(p.play().error, "");
  EXPECT_EQ(p.played().times.back(), (clip_frames - 1) * clip_frame_time);
}

TEST_F(Scenarios, PlayedFastAndToAStopPosition) {
  Pipeline p(description(true));
  ASSERT_NO_FATAL_FAILURE(reach(p, GST_STATE_PAUSED));
  ASSERT_NO_FATAL_FAILURE(seek(p, 4, 10 * clip_frame_time, 40 * clip_frame_time));
  EXPECT_EQ(p.play().error, "");
  const auto& times = p.played().times;
  const auto first = std::find(times.begin(), times.end(), 10 * clip_frame_time);
  ASSERT_NE(first, times.end());
  for (auto t = first; t + 1 != times.end(); ++t) EXPECT_LT(*t, *(t + 1));
  EXPECT_LT(times.back(), 40 * clip_frame_time);
}

TEST_F(Scenarios, PausedAndResumed) {
  Pipeline p(description(true));
  ASSERT_NO_FATAL_FAILURE(reach(p, GST_STATE_PLAYING));
  for (int i = 0; i < 5; ++i) {
    g_usleep(100 * 1000);
    ASSERT_NO_FATAL_FAILURE(reach(p, GST_STATE_PAUSED));
    const GstClockTime before = shown(p);
    g_usleep(60 * 1000);
    EXPECT_EQ(shown(p), before) << "a paused pipeline moved";
    gst_element_set_state(p.get(), GST_STATE_PLAYING);
  }
  EXPECT_EQ(p.play().error, "");
  EXPECT_EQ(p.played().frames, clip_frames);
}

TEST_F(Scenarios, StatesChangeIntensively) {
  constexpr GstState states[] = {GST_STATE_PLAYING, GST_STATE_PAUSED,  GST_STATE_READY,
                                 GST_STATE_PAUSED,  GST_STATE_NULL,    GST_STATE_PLAYING,
                                 GST_STATE_READY,   GST_STATE_PLAYING, GST_STATE_NULL};
  // (A demuxer's pad is linked once by gst_parse_launch, so a file would play once only.)
  Pipeline p(
      "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=160,height=120 ! jpegenc ! jpegdec ! "
      "videodenoise filter=gaussian async-depth=4 ! fakesink");
  for (int round = 0; round < 5; ++round)
    for (const GstState state : states) {
      ASSERT_NE(gst_element_set_state(p.get(), state), GST_STATE_CHANGE_FAILURE);
      if (round % 2 == 0) continue;  // at once, while the last change is still under way
      ASSERT_NE(gst_element_get_state(p.get(), nullptr, nullptr, limit), GST_STATE_CHANGE_FAILURE);
    }
  p.played().frames = 0;
  EXPECT_EQ(p.play().error, "");
  EXPECT_EQ(p.played().frames, clip_frames);
}

// A caps filter behind the element changes: RECONFIGURE travels upstream, and the source gives the new format
// and size.
TEST(Renegotiation, DownstreamAsksForAnotherFormatAndSize) {
  Pipeline p(
      "videotestsrc num-buffers=200 ! videodenoise filter=gaussian async-depth=4 ! "
      "capsfilter name=wanted caps=video/x-raw,format=NV12,width=64,height=48 ! fakesink name=sink "
      "sync=false");
  ASSERT_EQ(p.played().error, "");
  auto* wanted = gst_bin_get_by_name(GST_BIN(p.get()), "wanted");
  auto* pad = gst_element_get_static_pad(wanted, "src");
  struct Change {
    GstElement* filter;
    unsigned frames;
  } change{wanted, 0};
  const auto on_frame = [](GstPad*, GstPadProbeInfo*, gpointer data) {
    auto& c = *static_cast<Change*>(data);
    if (++c.frames == 50)
      gst_util_set_object_arg(G_OBJECT(c.filter), "caps", "video/x-raw,format=GRAY8,width=33,height=21");
    if (c.frames == 100)
      gst_util_set_object_arg(G_OBJECT(c.filter), "caps", "video/x-raw,format=RGB,width=160,height=90");
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, &change, nullptr);
  EXPECT_EQ(p.play().error, "");
  EXPECT_EQ(p.played().frames, 200U);
  EXPECT_EQ(p.played().sizes, (std::vector<std::string>{"64x48", "33x21", "160x90"}));
  gst_object_unref(pad);
  gst_object_unref(wanted);
}

}  // namespace
}  // namespace quietframe::test
