// What the element says of itself without being asked: the message `videodenoise`, and the memory path in the
// log.
#pragma once
#include <gst/gst.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "pixel_format.hpp"
#include "stats.hpp"

namespace quietframe::gst {

class Reporter {
 public:
  explicit Reporter(GstElement* element) : element_(element) {}

  /// The element starts; `cuda` says on which backend.
  void start(bool cuda);
  /// Once for each way: how the next frame's samples travel, and why. Streaming thread.
  void memory(MemoryKind in, MemoryKind out);
  /// A frame left: posts the statistics when `interval_ms` have passed since the last time (0: never). Says
  /// whether it did.
  bool frame_out(const Stats& stats, int interval_ms);

 private:
  using Time = std::chrono::steady_clock::time_point;

  GstElement* const element_;
  bool cuda_ = false;
  unsigned said_ = 0;  ///< a bit for each way
  std::mutex mutex_;
  Time posted_;
};

}  // namespace quietframe::gst
