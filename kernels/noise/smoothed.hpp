// The noise estimate without flicker: each frame is filtered with what the frames before it said, smoothed
// over stream time.
#pragma once
#include <array>
#include <cstdint>

#include "filter.hpp"

namespace quietframe {

/// What one frame says of its noise.
struct NoiseMeasurement {
  float sigma = -1.f;             ///< levels; negative: too few coefficients to say
  std::array<float, 256> look{};  ///< samples on a 16 x 16 grid, levels: to tell a cut from a change of noise
};

/// As estimate_sigma, but of those coefficients alone that are at least 2^-12 levels (a masked sector and a
/// black border give exact zeros) and whose middle sample is within 0.5 .. 254.5 levels (clipping halves the
/// noise). Uses `scratch` buffers from index `first_buffer` on.
NoiseMeasurement measure_noise(const ImageView<const float>& plane, ThreadPool& pool, Scratch& scratch,
                               std::size_t first_buffer);

/// The smoothed sigma of one plane. Frame n uses the measurements of frames before n only, so that results do
/// not depend on how many frames are in flight; the first frame, and the first after a reset, uses its own. A
/// cut is seen in the frame that follows it at the latest: that frame's successor starts from the new scene's
/// own measurement.
class SmoothedSigma {
 public:
  static constexpr double time_constant = 0.5;  ///< seconds, exponential in log sigma
  static constexpr double slew = 1.5;  ///< largest change of log sigma a second (5 % a frame at 30 frames/s)
  static constexpr float floor = 0.05f, ceiling = 100.f;  ///< levels
  static constexpr float cut =
      24.f;  ///< mean difference of the looks, levels, beyond what the noise explains

  /// Sigma for the frame that `m` was measured on, which becomes part of what the next one uses.
  /// `stream_time` in nanoseconds, -1 when unknown (a thirtieth of a second is assumed).
  float next(const NoiseMeasurement& m, std::int64_t stream_time, bool reset);

 private:
  bool is_cut(const NoiseMeasurement& m) const;

  bool known_ = false;
  double log_sigma_ = 0;
  std::int64_t time_ = -1;
  NoiseMeasurement last_;
};

}  // namespace quietframe
