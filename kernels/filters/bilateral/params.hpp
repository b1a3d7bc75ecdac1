// Bilateral filter (Tomasi & Manduchi 1998): w = exp(-d^2 / 2 ss^2) exp(-D^2 / 2 sr^2), d the distance in
// pixels, D^2 the squared difference in levels summed over the group's channels; borders replicate.
#pragma once
#include <cmath>

#include "filter.hpp"
#include "noise/joint.hpp"

namespace quietframe::bilateral {

inline constexpr char blurb[] = "Bilateral filter: a blur that stops at edges";
inline constexpr double tolerance = 1e-3;

struct Params {
  float sigma_space = 2.f;
  float sigma_range = 0.f;
};

inline constexpr ParamInfo params[] = {
    QF_PARAM(Params, sigma_space, "sigma-space", "px", 0.1, 10,
             "Standard deviation ss of the spatial weight; the window's radius is ceil(3 ss)"),
    QF_PARAM(Params, sigma_range, "sigma-range", "levels", 0, 255,
             "Standard deviation of the weight of differences; 0: 3.1 times the noise sigma"),
};

inline constexpr int max_radius = 30;

QF_HD inline int radius(const Params& p) { return static_cast<int>(ceilf(3.f * p.sigma_space)); }

/// sr, given the joint noise sigma of the group's channels.
QF_HD inline float range(const Params& p, float noise_sigma) {
  const float sr = p.sigma_range > 0.f ? p.sigma_range : 3.1f * noise_sigma;
  return sr > min_amplitude ? sr : min_amplitude;
}

inline NoiseUse noise_use(const Params& p) { return p.sigma_range > 0.f ? NoiseUse::none : NoiseUse::shared; }
inline int history(const Params&) { return 0; }

void run_cpu(CpuJob& job, const Params& p);
void run_simd(CpuJob& job, const Params& p);
std::size_t cuda_scratch(const CudaShape& shape);
void run_cuda(const CudaJob& job, const Params& p);

}  // namespace quietframe::bilateral
