// The exact median of magnitudes, for the noise estimate: counted while the values are made, then selected
// among the few that share the median's histogram bin.
#pragma once
#include <cstdint>

#include "filter.hpp"

namespace quietframe {

/// Median of |values|: exactly numpy.median(numpy.abs(values)), for an even count the mean of the middle two.
/// Allocates nothing once `scratch` has grown. Count every value once, then ask for the median.
class AbsMedian {
 public:
  /// Uses buffers first_buffer and first_buffer + 1 of `scratch`, for up to max_count values.
  AbsMedian(ThreadPool& pool, Scratch& scratch, std::size_t first_buffer, std::size_t max_count);

  /// Counts n values; calls at the same time are given different lanes (ThreadPool::lanes()).
  void count(const float* values, int n, int lane);

  /// `values` are all those that were counted, at least one.
  float median(const ImageView<const float>& values);

  static constexpr std::size_t buffers = 2;

 private:
  ThreadPool& pool_;
  std::uint32_t* bins_;  ///< one histogram a lane
  float* candidates_;
};

/// The MAD of Gaussian noise of standard deviation 1 is 0.6745.
inline float mad_to_sigma(float median) { return median / 0.6745f; }

}  // namespace quietframe
