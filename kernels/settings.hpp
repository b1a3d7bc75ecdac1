// What a user sets beside a filter's own parameters, and the snapshot of everything that one frame is
// filtered with.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "param.hpp"

namespace quietframe {

struct FilterInfo;

enum class Planes : int { all, luma };
enum class NoiseEstimate : int { exact, smoothed };

inline constexpr Choice planes_choices[] = {
    {"all", "Filter luma and chroma"},
    {"luma", "Filter luma alone; chroma passes untouched (formats without chroma: as all)"},
};
inline constexpr Choice noise_estimate_choices[] = {
    {"exact", "The frame's own: median(|HH|) / 0.6745 of its finest wavelet subband"},
    {"smoothed",
     "Of the frames before it, smoothed over stream time: no flicker. The CUDA backend takes exact instead"},
};

/// Settings that every filter shares.
struct CommonParams {
  float strength = 1.f;
  float chroma_strength = 1.f;
  Planes planes = Planes::all;
  float noise_sigma = 0.f;
  NoiseEstimate noise_estimate = NoiseEstimate::exact;

  bool operator==(const CommonParams&) const = default;
};

inline constexpr ParamInfo common_params[] = {
    QF_PARAM(CommonParams, strength, "strength", "", 0, 1,
             "Mix of output and input: 1 is the filter alone, 0 passes frames through bit for bit"),
    QF_PARAM(CommonParams, chroma_strength, "chroma-strength", "", 0, 1,
             "The same for the chroma planes of YUV formats, multiplied by strength"),
    QF_PARAM_ENUM(CommonParams, planes, "planes", planes_choices, "Which planes of YUV formats are filtered"),
    QF_PARAM(CommonParams, noise_sigma, "noise-sigma", "levels", 0, 255,
             "Standard deviation of the noise; 0: estimated for each plane"),
    QF_PARAM_ENUM(CommonParams, noise_estimate, "noise-estimate", noise_estimate_choices,
                  "Which estimate stands in for noise-sigma=0"),
};

inline constexpr std::size_t max_params_size = 64;  ///< bytes; every filter's Params fits

/// Everything a frame is filtered with, copied when it is submitted: changes never tear a frame.
struct FrameSettings {
  const FilterInfo* filter = nullptr;
  alignas(8) std::array<std::byte, max_params_size> params{};  ///< filter->params's struct
  CommonParams common;
  bool reset_history =
      false;  ///< first frame, DISCONT, flush, seek: what came before says nothing about this one
  std::int64_t stream_time = -1;  ///< nanoseconds, -1 when unknown
};

/// Settings with `filter` at its defaults.
FrameSettings default_settings(const FilterInfo& filter);

}  // namespace quietframe
