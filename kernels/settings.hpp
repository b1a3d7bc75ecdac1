// What a user sets beside a filter's own parameters, and the snapshot of everything that one frame is
// filtered with.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "param.hpp"
#include "region.hpp"

namespace quietframe {

struct FilterInfo;

enum class Planes : int { all, luma };
enum class NoiseEstimate : int { exact, smoothed };
enum class Preview : int { off, split, difference, noise };

inline constexpr Choice planes_choices[] = {
    {"all", "Filter luma and chroma"},
    {"luma", "Filter luma alone; chroma passes untouched (formats without chroma: as all)"},
};
inline constexpr Choice noise_estimate_choices[] = {
    {"exact", "The frame's own: median(|HH|) / 0.6745 of its finest wavelet subband"},
    {"smoothed",
     "Of the frames before it, smoothed over stream time: no flicker, and masked areas do not count"},
};

inline constexpr Choice preview_choices[] = {
    {"off", "The filtered frame"},
    {"split", "The left half of the frame as it came in, the right half filtered"},
    {"difference",
     "Eight times the absolute difference of input and output, on black: where the filter acts"},
    {"noise", "What the filter took away, on mid-grey: structure in it is detail lost"},
};

/// Settings that every filter shares.
struct CommonParams {
  float strength = 1.f;
  float chroma_strength = 1.f;
  Planes planes = Planes::all;
  float noise_sigma = 0.f;
  NoiseEstimate noise_estimate = NoiseEstimate::exact;
  Preview preview = Preview::off;

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
                  "Which estimate stands in for noise-sigma=0; the element's default is smoothed"),
    QF_PARAM_ENUM(CommonParams, preview, "preview", preview_choices, "What is shown, for tuning"),
};

inline constexpr std::size_t max_params_size = 64;  ///< bytes; every filter's Params fits

/// Everything a frame is filtered with, copied when it is submitted: changes never tear a frame.
struct FrameSettings {
  const FilterInfo* filter = nullptr;
  alignas(8) std::array<std::byte, max_params_size> params{};  ///< filter->params's struct
  CommonParams common;
  Region region;                     ///< what is outside of it stays as it is, byte for byte
  std::shared_ptr<const Mask> mask;  ///< likewise; of the frame's size, or null
  bool reset_history =
      false;  ///< first frame, DISCONT, flush, seek: what came before says nothing about this one
  std::int64_t stream_time = -1;  ///< nanoseconds, -1 when unknown
};

/// Whether a frame leaves as it came, bit for bit.
inline bool changes_nothing(const FrameSettings& s) {
  const bool shows_frame = s.common.preview == Preview::off || s.common.preview == Preview::split;
  return shows_frame && (!s.filter || s.common.strength == 0.f);
}

/// Settings with `filter` at its defaults.
FrameSettings default_settings(const FilterInfo& filter);

}  // namespace quietframe
