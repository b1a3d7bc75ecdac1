// Latency from the frame rate, the depth and the measured delay.
#include "latency.hpp"

#include <algorithm>

namespace quietframe::gst {
namespace {

constexpr GstClockTime processing_deadline = 15 * GST_MSECOND;  // GstVideoSink's
constexpr GstClockTime step = 5 * GST_MSECOND;                  // so that jitter does not change the report
constexpr int window_frames = 100, needed = 3;  // a single hiccup of the machine is not a latency

}  // namespace

void LatencyReport::configure(GstClockTime duration, int depth, bool passthrough) {
  const std::lock_guard lock(mutex_);
  const auto d = GST_CLOCK_TIME_IS_VALID(duration) && duration > 0 ? duration : 40 * GST_MSECOND;
  if (d != duration_ || depth != depth_) {
    measured_ = candidate_ = 0;
    exceeded_ = window_ = 0;
  }
  duration_ = d;
  depth_ = depth;
  passthrough_ = passthrough;
}

void LatencyReport::measure(GstClockTime delay) {
  const std::lock_guard lock(mutex_);
  if (++window_ > window_frames) {
    window_ = 0;
    exceeded_ = 0;
    candidate_ = 0;
  }
  if (delay <= std::max(processing_deadline, measured_)) return;
  candidate_ = std::max(candidate_, delay);
  if (++exceeded_ < needed) return;
  // More than all slots' worth of frames cannot be waiting here; what is slower than that blocks upstream.
  const auto rounded = (candidate_ + step - 1) / step * step;
  measured_ = std::max(measured_, std::min(rounded, duration_ * static_cast<GstClockTime>(depth_)));
  exceeded_ = 0;
  candidate_ = 0;
}

LatencyReport::Latency LatencyReport::compute() const {
  if (passthrough_) return {0, 0};
  return {measured_, std::max(measured_, duration_ * static_cast<GstClockTime>(depth_))};
}

LatencyReport::Latency LatencyReport::get() const {
  const std::lock_guard lock(mutex_);
  return compute();
}

bool LatencyReport::take_change() {
  const std::lock_guard lock(mutex_);
  const auto now = compute();
  const bool changed = !(now == reported_);
  reported_ = now;
  return changed;
}

}  // namespace quietframe::gst
