// Events and queries keep their places among the frames.
#include <atomic>
#include <thread>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

GstEvent* custom(const char* name) {
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty(name));
}

TEST(Events, GapTagAndCustomEventsKeepTheirPlaces) {
  Harness h("filter=nlm async-depth=8", "video/x-raw,format=GRAY8,width=160,height=120,framerate=50/1");
  Recorder recorder(h.element());
  h.push(0U);
  h.push(1U);
  h.push_event(gst_event_new_gap(2 * frame_time, frame_time));
  h.push(3U);
  h.push_event(custom("one"));
  h.push_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "clip", nullptr)));
  h.push(4U);
  h.push(5U);
  h.push_event(custom("two"));
  ASSERT_TRUE(h.eos());
  const auto text = recorder.text();
  EXPECT_TRUE(text.ends_with("0 1 gap 3 custom-downstream tag 4 5 custom-downstream eos")) << text;
}

TEST(Events, ManyEventsBetweenTwoFramesAllArrive) {
  Harness h("filter=nlm async-depth=2", "video/x-raw,format=GRAY8,width=160,height=120,framerate=50/1");
  Recorder recorder(h.element());
  std::string expected = "0";
  h.push(0U);
  for (int i = 0; i < 100; ++i) {
    h.push_event(custom("mark"));
    expected += " custom-downstream";
  }
  h.push(1U);
  h.eos();
  const auto text = recorder.text();
  EXPECT_TRUE(text.ends_with(expected + " 1 eos")) << text;
}

TEST(Events, SegmentWaitsForTheFramesBeforeIt) {
  Harness h("filter=nlm async-depth=8", "video/x-raw,format=GRAY8,width=160,height=120,framerate=50/1");
  Recorder recorder(h.element());
  for (unsigned i = 0; i < 4; ++i) h.push(i);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = -1.0;
  segment.stop = GST_SECOND;
  h.push_event(gst_event_new_segment(&segment));
  for (unsigned i = 4; i < 8; ++i) h.push(i);
  h.eos();
  const auto text = recorder.text();
  EXPECT_TRUE(text.ends_with("0 1 2 3 segment 4 5 6 7 eos")) << text;
}

TEST(Events, CapsChangesInMidStreamLoseNothing) {
  Harness h("filter=gaussian async-depth=8");
  Recorder recorder(h.element());
  unsigned index = 0;
  std::string expected;
  for (const char* caps : {"video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1",
                           "video/x-raw,format=GRAY8,width=33,height=7,framerate=50/1",
                           "video/x-raw,format=NV12,width=33,height=7,framerate=50/1",
                           "video/x-raw,format=GRAY16_LE,width=128,height=96,framerate=25/1",
                           "video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1"}) {
    h.set_caps(caps);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(h.push(index++), GST_FLOW_OK) << caps;
  }
  ASSERT_TRUE(h.eos());
  const auto text = recorder.text();
  EXPECT_NE(text.find("0 1 2 3 4 caps"), std::string::npos) << text;
  for (const auto size : {64 * 48, 36 * 7, 36 * 8 + 36 * 4, 256 * 96, 64 * 48})
    for (int i = 0; i < 5; ++i) EXPECT_EQ(gst_buffer_get_size(h.pull().get()), static_cast<gsize>(size));
}

TEST(Events, DrainQueryReturnsWhenAllFramesAreOut) {
  Harness h("filter=nlm async-depth=8", "video/x-raw,format=GRAY8,width=160,height=120,framerate=50/1");
  for (unsigned i = 0; i < 5; ++i) h.push(i);
  auto* query = gst_query_new_drain();
  gst_pad_peer_query(h.get()->srcpad, query);
  EXPECT_EQ(h.received(), 5U);
  gst_query_unref(query);
}

TEST(Events, OutOfBandEventsDoNotWait) {
  Harness h("filter=gaussian", gray_caps);
  Recorder recorder(h.element());
  h.push_event(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB, gst_structure_new_empty("now")));
  EXPECT_TRUE(recorder.text().ends_with("custom-downstream-oob")) << recorder.text();
}

// Toggled from the application while frames flow: order holds, none is lost.
TEST(Events, TogglingTheFilterKeepsOrder) {
  Harness h("filter=gaussian async-depth=8", gray_caps);
  for (unsigned i = 0; i < 200; ++i) {
    if (i % 7 == 0) h.set("filter", i % 14 == 0 ? "none" : "wavelet");
    if (i % 10 == 0) h.set("strength", i % 20 == 0 ? "0" : "1");
    ASSERT_EQ(h.push(i), GST_FLOW_OK);
  }
  ASSERT_TRUE(h.eos());
  for (unsigned i = 0; i < 200; ++i) ASSERT_EQ(GST_BUFFER_OFFSET(h.pull().get()), i);
}

TEST(Events, PropertiesUnderStressLoseNothing) {
  Harness h("async-depth=4", gray_caps);
  std::atomic<bool> stop = false;
  std::thread setter([&] {
    const char* filters[] = {"none", "gaussian", "median", "wavelet"};
    for (int n = 0; !stop; ++n) {
      h.set("filter", filters[n % 4]);
      h.set("strength", n % 5 == 0 ? "0" : "0.75");
      h.set("async-depth", n % 3 == 0 ? "1" : "5");
      h.set("noise-sigma", n % 2 ? "0" : "7");
      g_usleep(200);
    }
  });
  for (unsigned i = 0; i < 400; ++i) EXPECT_EQ(h.push(i), GST_FLOW_OK);
  stop = true;
  setter.join();
  ASSERT_TRUE(h.eos());
  for (unsigned i = 0; i < 400; ++i) ASSERT_EQ(GST_BUFFER_OFFSET(h.pull().get()), i);
  EXPECT_EQ(h.error(), "");
}

}  // namespace
}  // namespace quietframe::test
