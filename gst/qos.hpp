// Quality of service: which frames are too late to be worth filtering.
#pragma once
#include <gst/gst.h>

#include <mutex>

namespace quietframe::gst {

/// What the sink reported last. Safe from any thread.
class Qos {
 public:
  void reset() {
    const std::lock_guard lock(mutex_);
    proportion_ = 1;
    earliest_ = GST_CLOCK_TIME_NONE;
  }

  /// A QOS event from downstream: a buffer of `timestamp` (running time) was late by `diff`.
  void update(double proportion, GstClockTimeDiff diff, GstClockTime timestamp) {
    const std::lock_guard lock(mutex_);
    proportion_ = proportion;
    if (!GST_CLOCK_TIME_IS_VALID(timestamp)) {
      earliest_ = GST_CLOCK_TIME_NONE;
    } else {
      const auto sum = static_cast<GstClockTimeDiff>(timestamp) + diff;
      earliest_ = sum > 0 ? static_cast<GstClockTime>(sum) : 0;
    }
  }

  struct Verdict {
    bool late;
    GstClockTimeDiff jitter;
    double proportion;
  };
  Verdict judge(GstClockTime running_time) {
    const std::lock_guard lock(mutex_);
    if (!GST_CLOCK_TIME_IS_VALID(running_time) || !GST_CLOCK_TIME_IS_VALID(earliest_) ||
        running_time > earliest_)
      return {false, 0, proportion_};
    return {true, GST_CLOCK_DIFF(running_time, earliest_), proportion_};
  }

 private:
  std::mutex mutex_;
  double proportion_ = 1;
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;
};

}  // namespace quietframe::gst
