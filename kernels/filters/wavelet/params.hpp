// Wavelet shrinkage: a 2D wavelet transform, thresholds in proportion to the noise on its detail subbands,
// and the inverse.
//
// Forward and inverse transforms are PyWavelets' dwt2 and idwt2 with mode "symmetric" (half-sample symmetric
// borders), the next level taking the LL of the one before; a level count above pywt.dwt_max_level is carried
// out all the same, as pywt.wavedec2 does with a warning. A subband's first letter names the horizontal
// filter, its second the vertical one:
//
//   LL = cA    LH = cH (horizontal low-pass, vertical high-pass)    HL = cV    HH = cD
//
// Each detail subband b of level l = 0, 1, ... is thresholded at tau_b = alpha decay^l beta_b sigma, LL is
// kept, and sigma = median(|HH|) / 0.6745 of the first level unless it is given. Method and defaults: "Hybrid
// CUDA acceleration of wavelet-based MRI image denoising" (Frontiers), after Donoho and Johnstone 1994.
#pragma once
#include "filter.hpp"

namespace quietframe::wavelet {

inline constexpr char blurb[] = "Wavelet shrinkage with thresholds set by the noise";
inline constexpr double tolerance = 1e-3;

enum class Preset : int { paper, strong };
enum class Basis : int { haar, db4, sym4, coif2, bior44 };
enum class Rule : int { soft, hard, garrote };
enum class Schedule : int { fused, branches, stages };

inline constexpr Choice preset_choices[] = {
    {"paper", "As published, the thresholds and levels as given: light and fast"},
    {"strong", "For strong noise: at least 3 levels, alpha 2.5 and decay 0.6 times as given"},
};
inline constexpr Choice basis_choices[] = {
    {"haar", "Haar: 2 taps, sharp but blocky"},
    {"db4", "Daubechies with 4 vanishing moments: 8 taps"},
    {"sym4", "Symlet with 4 vanishing moments: 8 taps, nearly symmetric"},
    {"coif2", "Coiflet of order 2: 12 taps, nearly symmetric"},
    {"bior4.4", "Biorthogonal 4.4, the CDF 9/7 of JPEG 2000: symmetric, keeps edges in place"},
};
inline constexpr Choice rule_choices[] = {
    {"soft", "sign(c) max(|c| - tau, 0): smooth, lowers contrast a little"},
    {"hard", "c where |c| > tau, else 0: keeps contrast, may ring"},
    {"garrote", "c - tau^2 / c where |c| > tau, else 0: between the two"},
};
inline constexpr Choice schedule_choices[] = {
    {"fused", "Tiles stay in shared memory from the samples to the samples"},
    {"branches", "Low and high branches on two streams, the published hybrid method"},
    {"stages", "One kernel after another, the data-parallel baseline"},
};

inline constexpr int max_levels = 5;

struct Params {
  Preset preset = Preset::paper;
  Basis basis = Basis::bior44;
  int levels = 1;
  float alpha = 1.f, decay = 1.f;
  float beta_lh = 0.8f, beta_hl = 0.8f, beta_hh = 1.2f;
  Rule threshold = Rule::soft;
  Schedule schedule = Schedule::fused;
};

inline constexpr ParamInfo params[] = {
    QF_PARAM_ENUM(Params, preset, "preset", preset_choices, "What levels, alpha and decay start from"),
    QF_PARAM_ENUM(Params, basis, "basis", basis_choices, "Wavelet"),
    QF_PARAM(Params, levels, "levels", "", 1, max_levels,
             "Levels of the transform: each one more reaches noise of twice the size"),
    QF_PARAM(Params, alpha, "alpha", "", 0, 10,
             "Strength of all thresholds: tau = alpha beta sigma; 0 changes nothing"),
    QF_PARAM(Params, decay, "decay", "", 0, 2,
             "Alpha of each coarser level in units of that of the finer one before it"),
    QF_PARAM(Params, beta_lh, "beta-lh", "", 0, 10,
             "Threshold of the LH subbands (horizontal edges) in units of alpha sigma"),
    QF_PARAM(Params, beta_hl, "beta-hl", "", 0, 10,
             "Threshold of the HL subbands (vertical edges) in units of alpha sigma"),
    QF_PARAM(Params, beta_hh, "beta-hh", "", 0, 10,
             "Threshold of the HH subbands (diagonals) in units of alpha sigma"),
    QF_PARAM_ENUM(Params, threshold, "threshold", rule_choices, "What a threshold does to a coefficient"),
    QF_PARAM_ENUM(Params, schedule, "schedule", schedule_choices,
                  "How the work is laid out on CUDA; the result is the same, and the CPU has one way only"),
};

/// The parameters that `p` stands for: its preset turned into levels, alpha and decay. docs/wavelet.md says
/// how `strong` was found. The filter's programs begin with this.
constexpr Params resolved(Params p) {
  if (p.preset == Preset::strong) {
    p.levels = p.levels < 3 ? 3 : p.levels;
    p.alpha *= 2.5f;
    p.decay *= 0.6f;
  }
  return p;
}

/// Alpha of level `l`, 0 the finest.
constexpr float level_alpha(const Params& p, int l) {
  float alpha = p.alpha;
  for (; l > 0; --l) alpha *= p.decay;
  return alpha;
}

inline NoiseUse noise_use(const Params&) { return NoiseUse::own; }
inline int history(const Params&) { return 0; }

void run_cpu(CpuJob& job, const Params& p);
std::size_t cuda_scratch(const CudaShape& shape);
void run_cuda(const CudaJob& job, const Params& p);

}  // namespace quietframe::wavelet
