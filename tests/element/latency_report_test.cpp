// The latency report by itself.
#include "latency.hpp"

#include <gtest/gtest.h>

namespace quietframe::test {
namespace {

// A filter that takes longer than sinks allow for shows up in min, in steps, and not for one hiccup.
TEST(LatencyReport, SlowProcessingIsReported) {
  gst::LatencyReport report;
  report.configure(20 * GST_MSECOND, 4, false);
  report.take_change();
  for (int i = 0; i < 1000; ++i) report.measure(14 * GST_MSECOND);
  report.measure(50 * GST_MSECOND);
  report.measure(50 * GST_MSECOND);
  EXPECT_FALSE(report.take_change());
  for (int i = 0; i < 200; ++i) report.measure(31 * GST_MSECOND);
  EXPECT_TRUE(report.take_change());
  EXPECT_GE(report.get().min, 31 * GST_MSECOND);
  EXPECT_LE(report.get().min, 80 * GST_MSECOND);
  EXPECT_EQ(report.get().max, 80 * GST_MSECOND);
  for (int i = 0; i < 200; ++i) report.measure(GST_SECOND);
  EXPECT_EQ(report.get().min, 80 * GST_MSECOND);  // upstream is blocked, it does not queue up here
}

}  // namespace
}  // namespace quietframe::test
