// Gaussian blur: separable, normalised taps exp(-i^2 / (2 sigma^2)) over radius ceil(3 sigma), borders
// replicated.
#pragma once
#include <cmath>

#include "filter.hpp"

namespace quietframe::gaussian {

inline constexpr char blurb[] = "Gaussian blur";
inline constexpr double tolerance = 1e-3;

struct Params {
  float sigma = 0.9f;
};

inline constexpr ParamInfo params[] = {
    QF_PARAM(Params, sigma, "sigma", "px", 0.1, 10,
             "Standard deviation of the kernel; its radius is ceil(3 sigma)"),
};

inline constexpr int max_radius = 30;

inline int radius(const Params& p) { return static_cast<int>(std::ceil(3.f * p.sigma)); }

/// taps[i] is the weight at distance i, 0..radius; the whole kernel sums to 1.
inline int fill_taps(const Params& p, float taps[max_radius + 1]) {
  const int r = radius(p);
  double sum = 0, w[max_radius + 1];
  for (int i = 0; i <= r; ++i) {
    w[i] = std::exp(-0.5 * i * i / (static_cast<double>(p.sigma) * static_cast<double>(p.sigma)));
    sum += i == 0 ? w[i] : 2 * w[i];
  }
  for (int i = 0; i <= r; ++i) taps[i] = static_cast<float>(w[i] / sum);
  return r;
}

inline NoiseUse noise_use(const Params&) { return NoiseUse::none; }
inline int history(const Params&) { return 0; }

void run_cpu(CpuJob& job, const Params& p);
void run_simd(CpuJob& job, const Params& p);
std::size_t cuda_scratch(const CudaShape& shape);
void run_cuda(const CudaJob& job, const Params& p);

}  // namespace quietframe::gaussian
