// Frames through the element: depth, end of stream, flushing, flow returns, restart.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

std::vector<std::vector<std::uint8_t>> run(const std::string& settings, const std::string& caps,
                                           unsigned frames) {
  Harness h(settings, caps);
  for (unsigned i = 0; i < frames; ++i) EXPECT_EQ(h.push(i), GST_FLOW_OK);
  EXPECT_TRUE(h.eos());
  std::vector<std::vector<std::uint8_t>> out;
  while (auto buffer = Buffer(gst_harness_try_pull(h.get()))) {
    EXPECT_EQ(GST_BUFFER_PTS(buffer.get()), out.size() * frame_time);
    out.push_back(bytes(buffer));
  }
  return out;
}

TEST(Flow, DepthChangesNothingButSpeed) {
  for (const char* filter : {"gaussian", "median", "bilateral", "nlm", "wavelet"}) {
    const auto settings = std::string("filter=") + filter + " async-depth=";
    const auto one = run(settings + "1", gray_caps, 20);
    const auto eight = run(settings + "8", gray_caps, 20);
    ASSERT_EQ(one.size(), 20U);
    EXPECT_EQ(one, eight) << filter;
  }
}

TEST(Flow, DepthMayChangeWhilePlaying) {
  const auto reference = run("filter=wavelet async-depth=1", gray_caps, 24);
  Harness h("filter=wavelet async-depth=1", gray_caps);
  for (unsigned i = 0; i < 24; ++i) {
    if (i % 6 == 3) h.set("async-depth", i % 4 == 1 ? "16" : "2");
    ASSERT_EQ(h.push(i), GST_FLOW_OK);
  }
  h.eos();
  for (unsigned i = 0; i < 24; ++i) ASSERT_EQ(bytes(h.pull()), reference[i]) << i;
}

TEST(Flow, EosAfterNFramesYieldsN) {
  for (const unsigned n : {0U, 1U, 2U, 7U, 33U}) {
    Harness h("filter=gaussian async-depth=8", gray_caps);
    Recorder recorder(h.element());
    for (unsigned i = 0; i < n; ++i) ASSERT_EQ(h.push(i), GST_FLOW_OK);
    ASSERT_TRUE(h.eos());
    std::string expected;
    for (unsigned i = 0; i < n; ++i) expected += std::to_string(i) + " ";
    // The harness's stream-start, caps and segment may come before the recorder was there.
    const auto text = recorder.text();
    EXPECT_TRUE(text.ends_with(expected + "eos")) << text;
    EXPECT_EQ(h.push(n), GST_FLOW_EOS);
  }
}

TEST(Flow, EachFrameLeavesWithoutWaitingForTheNext) {
  Harness h("filter=wavelet async-depth=16", gray_caps);
  for (unsigned i = 0; i < 3; ++i) {
    ASSERT_EQ(h.push(i), GST_FLOW_OK);
    const auto out = h.pull();  // returns null after a minute
    ASSERT_TRUE(out);
    EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), i);
  }
}

// A source with few buffers (a camera) gets them back although nothing leaves.
TEST(Flow, InputsAreLetGoWhileAPushBlocks) {
  Harness h("filter=gaussian async-depth=4", gray_caps);
  static std::mutex blocked;
  std::unique_lock block(blocked);
  gst_pad_set_chain_function(h.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    const std::lock_guard wait(blocked);
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
  });
  static std::atomic<int> alive;
  alive = 0;
  for (unsigned i = 0; i < 4; ++i) {
    auto* frame = h.frame(i);
    ++alive;
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT(frame), [](gpointer, GstMiniObject*) { --alive; }, nullptr);
    ASSERT_EQ(h.push(frame), GST_FLOW_OK);
  }
  for (int i = 0; i < 5000 && alive > 0; ++i) g_usleep(1000);
  EXPECT_EQ(alive, 0);
  block.unlock();
  EXPECT_TRUE(h.eos());
}

TEST(Flow, FlushFromAnotherThreadAThousandTimes) {
  constexpr int flushes = 1000;
  Harness h("filter=gaussian async-depth=4", "video/x-raw,format=GRAY8,width=160,height=120,framerate=50/1");
  gst_harness_set_drop_buffers(h.get(), TRUE);
  std::mutex between_frames;  // a frame must not come between FLUSH_STOP and the new segment
  std::atomic<bool> stop = false;
  std::atomic<unsigned> pushed = 0;
  std::thread pusher([&] {
    for (unsigned i = 0; !stop; ++i) {
      auto* frame = h.frame(i);
      const std::lock_guard lock(between_frames);
      if (h.push(frame) == GST_FLOW_OK) ++pushed;
    }
  });
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (int i = 0; i < flushes; ++i) {
    const unsigned before = pushed;
    while (pushed == before) std::this_thread::yield();  // so that every flush meets frames in flight
    ASSERT_TRUE(h.push_event(gst_event_new_flush_start()));
    const std::lock_guard lock(between_frames);
    ASSERT_TRUE(h.push_event(gst_event_new_flush_stop(TRUE)));
    ASSERT_TRUE(h.push_event(gst_event_new_segment(&segment)));
  }
  stop = true;
  pusher.join();
  EXPECT_GE(pushed.load(), static_cast<unsigned>(flushes));
  EXPECT_EQ(h.push(0U), GST_FLOW_OK);
  EXPECT_EQ(h.error(), "");
}

TEST(Flow, FlushDropsWhatIsInFlightAndNothingAfterIt) {
  Harness h("filter=nlm async-depth=8", "video/x-raw,format=GRAY8,width=320,height=240,framerate=50/1");
  for (unsigned i = 0; i < 6; ++i) ASSERT_EQ(h.push(i), GST_FLOW_OK);
  ASSERT_TRUE(h.push_event(gst_event_new_flush_start()));
  ASSERT_TRUE(h.push_event(gst_event_new_flush_stop(TRUE)));
  while (auto buffer = Buffer(gst_harness_try_pull(h.get()))) EXPECT_LT(GST_BUFFER_OFFSET(buffer.get()), 6U);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  ASSERT_TRUE(h.push_event(gst_event_new_segment(&segment)));
  for (unsigned i = 100; i < 103; ++i) ASSERT_EQ(h.push(i), GST_FLOW_OK);
  ASSERT_TRUE(h.eos());
  for (unsigned i = 100; i < 103; ++i) EXPECT_EQ(GST_BUFFER_OFFSET(h.pull().get()), i);
  EXPECT_FALSE(gst_harness_try_pull(h.get()));
}

// Downstream's answer reaches upstream with one of the next frames.
TEST(Flow, DownstreamsFlowReturnIsRelayed) {
  for (const auto expected : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_ERROR, GST_FLOW_CUSTOM_ERROR}) {
    Harness h("filter=gaussian async-depth=2", gray_caps);
    gst_pad_set_chain_function_full(
        h.get()->sinkpad,
        [](GstPad* pad, GstObject*, GstBuffer* buffer) {
          gst_buffer_unref(buffer);
          return static_cast<GstFlowReturn>(GPOINTER_TO_INT(pad->chaindata));
        },
        GINT_TO_POINTER(expected), nullptr);
    GstFlowReturn flow = GST_FLOW_OK;
    for (unsigned i = 0; i < 200 && flow == GST_FLOW_OK; ++i) {
      flow = h.push(i);
      g_usleep(1000);
    }
    EXPECT_EQ(flow, expected) << gst_flow_get_name(expected);
  }
}

TEST(Flow, ANewSegmentAfterDownstreamsEosFlowsAgain) {
  Harness h("filter=gaussian async-depth=2", gray_caps);
  static std::atomic<int> calls;
  static std::atomic<bool> refuse;
  calls = 0;
  refuse = true;
  gst_pad_set_chain_function(h.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    ++calls;
    gst_buffer_unref(buffer);
    return refuse ? GST_FLOW_EOS : GST_FLOW_OK;
  });
  GstFlowReturn flow = GST_FLOW_OK;
  for (unsigned i = 0; i < 200 && flow == GST_FLOW_OK; ++i) {
    flow = h.push(i);
    g_usleep(1000);
  }
  ASSERT_EQ(flow, GST_FLOW_EOS);
  refuse = false;
  calls = 0;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  ASSERT_TRUE(h.push_event(gst_event_new_segment(&segment)));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(h.push(i), GST_FLOW_OK);
  EXPECT_TRUE(h.eos());
  EXPECT_EQ(calls, 3);
}

int threads() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// What is left when the process ends is seen by leaks.sh, which runs this under GStreamer's leaks tracer.
TEST(Flow, PausedAndReadyTwoHundredTimes) {
  auto* pipeline = gst_parse_launch(
      ("videotestsrc ! video/x-raw,format=GRAY8,width=64,height=48 ! videodenoise backend=" + backend() +
       " async-depth=3 ! fakesink")
          .c_str(),
      nullptr);
  ASSERT_TRUE(pipeline);
  int before = 0;
  for (int i = 0; i < 200; ++i) {
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    ASSERT_EQ(gst_element_get_state(pipeline, nullptr, nullptr, 20 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
    ASSERT_EQ(gst_element_set_state(pipeline, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    if (i == 5) before = threads();
  }
  EXPECT_LE(threads(), before + 2);  // GLib's pool may keep a thread more or less
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

TEST(Flow, StateChangesUnderFire) {
  Harness h("filter=gaussian async-depth=4", gray_caps);
  gst_harness_set_drop_buffers(h.get(), TRUE);
  auto* states = gst_harness_stress_statechange_start(h.get());
  auto* template_buffer = h.frame(0);
  auto* caps = gst_caps_from_string(gray_caps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  auto* frames = gst_harness_stress_push_buffer_start(h.get(), caps, &segment, template_buffer);
  g_usleep(500000);
  gst_harness_stress_thread_stop(frames);
  gst_harness_stress_thread_stop(states);
  gst_caps_unref(caps);
  gst_buffer_unref(template_buffer);
}

}  // namespace
}  // namespace quietframe::test
