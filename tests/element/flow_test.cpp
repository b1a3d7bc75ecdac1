// Frames and events through the element: order, drain, flush, renegotiation, restart.
#include <atomic>
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
  for (const char* filter : {"gaussian", "median", "wavelet"}) {
    const auto settings = std::string("filter=") + filter + " async-depth=";
    const auto one = run(settings + "1", gray_caps, 20);
    const auto eight = run(settings + "8", gray_caps, 20);
    ASSERT_EQ(one.size(), 20U);
    EXPECT_EQ(one, eight) << filter;
  }
}

TEST(Flow, EosAfterNFramesYieldsN) {
  for (const unsigned n : {0U, 1U, 2U, 7U, 33U}) {
    Harness h("filter=gaussian async-depth=8", gray_caps);
    for (unsigned i = 0; i < n; ++i) ASSERT_EQ(h.push(i), GST_FLOW_OK);
    ASSERT_TRUE(h.eos());
    // EOS is pushed after the last frame, by the thread that sends it.
    EXPECT_EQ(h.received(), n);
    bool eos = false;
    while (auto event = Event(gst_harness_try_pull_event(h.get())))
      eos |= GST_EVENT_TYPE(event.get()) == GST_EVENT_EOS;
    EXPECT_TRUE(eos);
    EXPECT_EQ(h.push(n), GST_FLOW_EOS);
  }
}

}  // namespace
}  // namespace quietframe::test
