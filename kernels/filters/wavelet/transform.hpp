// One level of the 2D wavelet transform and of its inverse on float planes, in bands of rows over the thread
// pool.
#pragma once
#include "filters/wavelet/bank.hpp"

namespace quietframe {
class AbsMedian;
}

namespace quietframe::wavelet {

/// The four subbands of one level, each coefficients(width) x coefficients(height).
struct Subbands {
  ImageView<float> ll, lh, hl, hh;
};

struct Thresholds {
  Rule rule;
  float lh, hl, hh;  ///< levels
};

/// Floats of working memory for either direction of a level of samples this wide.
std::size_t line_floats(int width, const ThreadPool& pool);

/// Writes the subbands of `in` (at least 1x1). Where ll has no data, hh alone is made. Counts hh in `median`
/// where that is not null.
void analyse(const Bank& bank, const ImageView<const float>& in, const Subbands& out, ThreadPool& pool,
             float* lines, AbsMedian* median);

/// Writes `out` from the subbands with the thresholds on lh, hl and hh.
void synthesise(const Bank& bank, const Subbands& in, const Thresholds& thresholds,
                const ImageView<float>& out, ThreadPool& pool, float* lines);

}  // namespace quietframe::wavelet
