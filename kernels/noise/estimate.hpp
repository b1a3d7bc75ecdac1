// The noise sigma that all filters share: the median absolute value of a frame's finest diagonal wavelet
// subband.
#pragma once
#include "filter.hpp"

namespace quietframe {

/// sigma = median(|HH|) / 0.6745 in levels, HH the diagonal subband of one bior4.4 analysis step with
/// half-sample symmetric borders (PyWavelets' mode "symmetric"); the median of an even count is the mean of
/// the middle two (Donoho & Johnstone 1994). Exact: the same float as numpy.median of the same coefficients.
/// `scratch` buffers from index `first_buffer` on are used.
float estimate_sigma(const ImageView<const float>& plane, ThreadPool& pool, Scratch& scratch,
                     std::size_t first_buffer);

}  // namespace quietframe
