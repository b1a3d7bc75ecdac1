// The noise estimate without flicker: each frame is filtered with what the frames before it said, smoothed
// over stream time.
#pragma once
#include <array>
#include <cstdint>

#include "filter.hpp"
#include "noise/smoothing.hpp"

namespace quietframe {

/// What one frame says of its noise.
struct NoiseMeasurement {
  float sigma = -1.f;  ///< levels; negative: too few coefficients to say
  std::array<float, smoothing::look_size> look{};
};

/// As estimate_sigma, but of those coefficients alone that are at least 2^-12 levels and not clipped, and
/// from a histogram of them (noise/smoothing.hpp): one pass over the frame. Uses `scratch` buffers from index
/// `first_buffer` on.
NoiseMeasurement measure_noise(const ImageView<const float>& plane, ThreadPool& pool, Scratch& scratch,
                               std::size_t first_buffer);

/// The smoothed sigma of one plane. Frame n uses the measurements of frames before n only, so that results do
/// not depend on how many frames are in flight; the first frame, and the first after a reset, uses its own. A
/// cut is seen in the frame that follows it at the latest: that frame's successor starts from the new scene's
/// own measurement.
class SmoothedSigma {
 public:
  /// Sigma for the frame that `m` was measured on, which becomes part of what the next one uses.
  /// `stream_time` in nanoseconds, -1 when unknown (a thirtieth of a second is assumed).
  float next(const NoiseMeasurement& m, std::int64_t stream_time, bool reset);

 private:
  smoothing::State state_;
  smoothing::Clock clock_;
  NoiseMeasurement last_;
};

}  // namespace quietframe
