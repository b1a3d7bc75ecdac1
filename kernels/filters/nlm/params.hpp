// Non-local means (Buades, Coll & Morel 2005): a mean over the search window, w = exp(-max(MSD - 2 sigma^2,
// 0) / h^2), MSD the mean square difference in levels over the patch and the group's channels. The image and
// its past are continued by replication beyond their borders, for patches and for the search alike.
#pragma once
#include "filter.hpp"
#include "noise/joint.hpp"

namespace quietframe::nlm {

inline constexpr char blurb[] = "Non-local means: averages what looks alike";
inline constexpr double tolerance = 1e-3;

enum class CentreWeight : int { one, max };
enum class Implementation : int { automatic, direct, box };

inline constexpr Choice centre_weight_choices[] = {
    {"one", "The pixel itself weighs 1, as an identical patch would"},
    {"max", "The pixel itself weighs as much as the best of the others: more smoothing"},
};
inline constexpr Choice implementation_choices[] = {
    {"auto", "Whichever is faster for the radii in use"},
    {"direct", "Every patch is compared sample by sample"},
    {"box",
     "Box sums of squared differences, one displacement after another: time hardly grows with the patch"},
};

struct Params {
  float h = 0.f;
  int patch_radius = 2;
  int search_radius = 7;
  float sigma = 0.f;
  CentreWeight centre_weight = CentreWeight::one;
  Implementation implementation = Implementation::automatic;
  int temporal_radius = 0;
};

inline constexpr ParamInfo params[] = {
    QF_PARAM(
        Params, h, "h", "levels", 0, 255,
        "Strength: root mean square difference at which a patch weighs 1/e; 0: 1.06 times the noise sigma"),
    QF_PARAM(Params, patch_radius, "patch-radius", "px", 0, 6, "Radius of the patches that are compared"),
    QF_PARAM(Params, search_radius, "search-radius", "px", 1, 16, "Radius of the window that is searched"),
    QF_PARAM(Params, sigma, "sigma", "levels", 0, 255,
             "Noise whose share 2 sigma^2 is subtracted from mean square differences; 0: none"),
    QF_PARAM_ENUM(Params, centre_weight, "centre-weight", centre_weight_choices,
                  "Weight of the pixel itself"),
    QF_PARAM_ENUM(Params, implementation, "implementation", implementation_choices,
                  "How patches are compared; the result is the same"),
    QF_PARAM(Params, temporal_radius, "temporal-radius", "frames", 0, max_history,
             "Past frames that are searched too; adds no latency"),
};

/// With CentreWeight::max the pixel itself never weighs less, so that one without any like it stays as it is.
inline constexpr float min_centre_weight = 1e-20f;

/// h in levels, given the joint noise sigma of the group's channels.
QF_HD inline float strength(const Params& p, float noise_sigma) {
  const float h = p.h > 0.f ? p.h : 1.06f * noise_sigma;
  return h > min_amplitude ? h : min_amplitude;
}

inline NoiseUse noise_use(const Params& p) { return p.h > 0.f ? NoiseUse::none : NoiseUse::shared; }
inline int history(const Params& p) { return p.temporal_radius; }

void run_cpu(CpuJob& job, const Params& p);
void run_simd(CpuJob& job, const Params& p);
std::size_t cuda_scratch(const CudaShape& shape);
void run_cuda(const CudaJob& job, const Params& p);

}  // namespace quietframe::nlm
