// Median (or any percentile) of a rectangular window, exact: every backend gives the same bits. Borders
// replicate.
#pragma once
#include <cstdint>
#include <cstring>

#include "filter.hpp"

namespace quietframe::median {

inline constexpr char blurb[] = "Exact median, or another percentile, of a square window";
inline constexpr double tolerance = 0;

struct Params {
  int radius = 1;
  float rank = 50.f;
};

inline constexpr ParamInfo params[] = {
    QF_PARAM(Params, radius, "radius", "px", 1, 37, "Radius r of the (2r+1) x (2r+1) window"),
    QF_PARAM(Params, rank, "rank", "%", 0, 100,
             "Percentile taken: 50 is the median, 0 the minimum, 100 the maximum"),
};

inline constexpr int max_window = 75;  ///< pixels, each way

/// A window of the library function: odd width and height, 1..max_window; `rank` counts from 0, the smallest.
struct Window {
  int width, height, rank;
  QF_HD int count() const { return width * height; }
};

/// The window of `p`: its rank is the nearest integer to rank% of (count - 1), halves up.
QF_HD inline Window window(const Params& p) {
  const int k = 2 * p.radius + 1;
  return {k, k, static_cast<int>(static_cast<double>(p.rank) / 100.0 * (k * k - 1) + 0.5)};
}

/// Total order of floats as integers: -inf ... -0 < +0 ... +inf, and NaN (of either sign) last.
QF_HD inline std::int32_t order_key(float v) {
  std::int32_t bits;
  memcpy(&bits, &v, sizeof bits);
  if (v != v) return INT32_MAX;
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
/// The float of a key; INT32_MAX comes back as a NaN.
QF_HD inline float from_order_key(std::int32_t key) {
  const std::int32_t bits = key >= 0 ? key : key ^ 0x7fffffff;
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

inline NoiseUse noise_use(const Params&) { return NoiseUse::none; }
inline int history(const Params&) { return 0; }

void run_cpu(CpuJob& job, const Params& p);
void run_simd(CpuJob& job, const Params& p);
/// The same for any window. They throw std::invalid_argument for one that is not odd or too large.
void run_window_cpu(CpuJob& job, const Window& window);
void run_window_simd(CpuJob& job, const Window& window);
void check_window(const Window& window);
std::size_t cuda_scratch(const CudaShape& shape);
void run_cuda(const CudaJob& job, const Params& p);

}  // namespace quietframe::median
