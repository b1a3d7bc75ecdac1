// Latency and quality of service: truthful numbers, messages when they change, late frames dropped.
#include "element/harness.hpp"

namespace quietframe::test {
namespace {

struct Answer {
  gboolean live;
  GstClockTime min, max;
};

// Upstream is a live source of 10 ms that buffers 30 ms; the harness itself knows no maximum.
void live_upstream(Harness& h) {
  gst_pad_set_query_function(h.get()->srcpad,
                             [](GstPad* pad, GstObject* parent, GstQuery* query) -> gboolean {
                               if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
                                 return gst_pad_query_default(pad, parent, query);
                               gst_query_set_latency(query, TRUE, 10 * GST_MSECOND, 30 * GST_MSECOND);
                               return TRUE;
                             });
}

Answer latency(Harness& h) {
  live_upstream(h);
  auto* query = gst_query_new_latency();
  Answer a{};
  EXPECT_TRUE(gst_pad_peer_query(h.get()->sinkpad, query));
  gst_query_parse_latency(query, &a.live, &a.min, &a.max);
  gst_query_unref(query);
  return a;
}

unsigned latency_messages(Harness& h) {
  unsigned count = 0;
  while (auto* message = gst_bus_pop_filtered(h.bus(), GST_MESSAGE_LATENCY)) {
    ++count;
    gst_message_unref(message);
  }
  return count;
}

TEST(Latency, MaxGrowsByTheDepthAndMinByNothing) {
  Harness h("filter=gaussian async-depth=3", "video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1");
  h.push(0U);
  h.pull();
  const auto a = latency(h);
  EXPECT_TRUE(a.live);
  EXPECT_EQ(a.min, 10 * GST_MSECOND);
  EXPECT_EQ(a.max, (30 + 3 * 20) * GST_MSECOND);
}

TEST(Latency, UnknownFramerateCountsAsTwentyFive) {
  Harness h("filter=gaussian async-depth=2", "video/x-raw,format=GRAY8,width=64,height=48,framerate=0/1");
  h.push(0U);
  h.pull();
  EXPECT_EQ(latency(h).max, (30 + 2 * 40) * GST_MSECOND);
}

TEST(Latency, PassthroughAddsNone) {
  Harness h("filter=none", gray_caps);
  h.push(0U);
  h.pull();
  EXPECT_EQ(latency(h).min, 10 * GST_MSECOND);
  EXPECT_EQ(latency(h).max, 30 * GST_MSECOND);
}

TEST(Latency, AMessageFollowsEveryChange) {
  Harness h("filter=gaussian async-depth=2", gray_caps);
  h.push(0U);
  h.pull();
  latency_messages(h);
  h.push(1U);
  h.pull();
  EXPECT_EQ(latency_messages(h), 0U);
  h.set("async-depth", "6");
  h.push(2U);
  h.pull();
  EXPECT_EQ(latency_messages(h), 1U);
  EXPECT_EQ(latency(h).max, (30 + 6 * 20) * GST_MSECOND);
  h.set("filter", "none");
  h.push(3U);
  h.pull();
  EXPECT_EQ(latency_messages(h), 1U);
  EXPECT_EQ(latency(h).max, 30 * GST_MSECOND);
  h.set_caps("video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1");
  h.set("filter", "gaussian");
  h.push(4U);
  h.pull();
  EXPECT_GE(latency_messages(h), 1U);
  EXPECT_EQ(latency(h).max, (30 + 6 * 40) * GST_MSECOND);
}

TEST(Qos, LateFramesAreDroppedAndSaidSo) {
  Harness h("filter=gaussian", gray_caps);
  h.push(0U);
  h.pull();
  gst_harness_push_upstream_event(
      h.get(),
      gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 3 * static_cast<GstClockTimeDiff>(frame_time), 0));
  for (unsigned i = 1; i < 6; ++i) ASSERT_EQ(h.push(i), GST_FLOW_OK);
  h.eos();
  // Running times up to 3 frames are late.
  const auto first = h.pull();
  EXPECT_EQ(GST_BUFFER_OFFSET(first.get()), 4U);
  EXPECT_TRUE(GST_BUFFER_IS_DISCONT(first.get()));
  EXPECT_EQ(GST_BUFFER_OFFSET(h.pull().get()), 5U);
  guint64 processed = 0, dropped = 0;
  unsigned messages = 0;
  while (auto* message = gst_bus_pop_filtered(h.bus(), GST_MESSAGE_QOS)) {
    ++messages;
    gst_message_parse_qos_stats(message, nullptr, &processed, &dropped);
    gst_message_unref(message);
  }
  EXPECT_EQ(messages, 3U);
  EXPECT_EQ(dropped, 3U);
  EXPECT_EQ(processed, 1U);
}

TEST(Qos, QosFalseDropsNothing) {
  Harness h("filter=gaussian qos=false", gray_caps);
  gst_harness_push_upstream_event(h.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, 0));
  for (unsigned i = 0; i < 6; ++i) h.push(i);
  h.eos();
  EXPECT_EQ(h.received(), 6U);
}

TEST(Qos, AFlushForgetsIt) {
  Harness h("filter=gaussian", gray_caps);
  h.push(0U);
  gst_harness_push_upstream_event(h.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, 0));
  h.push_event(gst_event_new_flush_start());
  h.push_event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  h.push_event(gst_event_new_segment(&segment));
  while (Buffer(gst_harness_try_pull(h.get()))) {
  }
  const auto before = h.received();
  h.push(1U);
  h.eos();
  EXPECT_EQ(h.received(), before + 1);
}

}  // namespace
}  // namespace quietframe::test
