// What the element counts and measures, for the property `stats`.
#pragma once
#include <gst/gst.h>

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "processor.hpp"

namespace quietframe::gst {

/// Counters since the element started, and durations of the last 1024 frames. Safe from any thread.
class Stats {
 public:
  Stats();
  void reset(std::string backend);

  void frame_in();
  void dropped();
  void passed_through();
  /// A filtered frame was pushed; `total_us` from its arrival until it was done.
  void frame_out(const FrameReport& report, float total_us);

  struct Counts {
    guint64 in, out, dropped;
  };
  Counts counts() const;

  /// Of the last frame's first channel, levels; -1: none was used.
  float noise_sigma() const;

  /// A GstStructure `videodenoise-stats`; the caller owns it.
  GstStructure* structure() const;

 private:
  static constexpr std::size_t kept = 1024;
  enum Duration { upload, kernel, download, total, durations };

  mutable std::mutex mutex_;
  std::string backend_ = "none";
  Counts counts_{};
  guint64 copied_bytes_ = 0;
  FrameReport last_;
  bool any_ = false;
  std::array<std::vector<float>, durations> us_;  ///< rings of `kept`
  std::size_t samples_ = 0;
};

}  // namespace quietframe::gst
