// One noise sigma for channels that a filter weighs jointly.
#pragma once
#include <cmath>

#include "image_view.hpp"

namespace quietframe {

/// Root mean square of the channels' sigmas, in levels. Negative sigmas (unknown) count as 0.
QF_HD inline float joint_sigma(const float* sigma, int channels) {
  float sum = 0.f;
  for (int c = 0; c < channels; ++c) sum += sigma[c] > 0.f ? sigma[c] * sigma[c] : 0.f;
  return sqrtf(sum / static_cast<float>(channels));
}

/// Strengths made from a sigma are held above this many levels, so that a noise-free frame divides by no zero
/// and comes back as it was: one 16-bit code, 1/257 level, is already far away on this scale.
inline constexpr float min_amplitude = 1e-4f;

}  // namespace quietframe
