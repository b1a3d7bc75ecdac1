// What the element adds to the pipeline's latency.
#pragma once
#include <gst/gst.h>

#include <mutex>

namespace quietframe::gst {

/// min is how long a frame can be delayed, max what can be buffered (nanoseconds). No filter looks at later
/// frames, so min is processing time alone: nothing while it fits into what sinks allow for it
/// (processing-deadline, 15 to 20 ms), else the delay that was measured. Safe from any thread.
class LatencyReport {
 public:
  struct Latency {
    GstClockTime min, max;
    bool operator==(const Latency&) const = default;
  };

  /// Frames of `duration` (none: unknown, 25 frames/s are assumed) and up to `depth` in flight; forgets what
  /// was measured when either changes.
  void configure(GstClockTime duration, int depth, bool passthrough);
  /// A frame took this long.
  void measure(GstClockTime delay);
  Latency get() const;
  /// True once after every change of what get() returns.
  bool take_change();

 private:
  Latency compute() const;

  mutable std::mutex mutex_;
  GstClockTime duration_ = 40 * GST_MSECOND;
  int depth_ = 4;
  bool passthrough_ = true;
  GstClockTime measured_ = 0;   ///< what is reported of it
  GstClockTime candidate_ = 0;  ///< largest of the window that exceeds measured_
  int exceeded_ = 0, window_ = 0;
  Latency reported_{0, 0};
};

}  // namespace quietframe::gst
