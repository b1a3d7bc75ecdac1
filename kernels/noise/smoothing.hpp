// What the smoothed noise estimate is, the same on every backend: bins of coefficient magnitudes, their
// median, and the step over stream time.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "image_view.hpp"

namespace quietframe::smoothing {

inline constexpr double time_constant = 0.5;  ///< seconds, exponential in log sigma
inline constexpr double slew = 1.5;  ///< largest change of log sigma a second (5 % a frame at 30 frames/s)
inline constexpr float floor = 0.05f, ceiling = 100.f;  ///< of sigma, levels
inline constexpr float cut =
    24.f;  ///< mean difference of two frames' looks, levels, beyond what the noise explains

/// A frame's look: its samples on a grid of look_side x look_side, to tell a cut from a change of noise.
inline constexpr int look_side = 16, look_size = look_side * look_side;

/// The sample of a side of n that stands at place k of the look's.
QF_HD constexpr int look_at(int k, int n) { return (2 * k + 1) * n / (2 * look_side); }

/// Magnitudes are counted in 32 bins an octave from 2^-5 to 2^7 levels, between one bin for all below and one
/// for all above. A bin is 3 % wide at most; interpolation within it leaves less than 1e-4 of sigma, and the
/// floor and the ceiling of sigma lie inside.
inline constexpr int bins = 2 + 12 * 32;
inline constexpr int first_code = (127 - 5) << 5;  ///< exponent and five bits of mantissa of 2^-5

/// Coefficients below 2^-12 levels do not count: a masked sector and a black border give (nearly) exact
/// zeros.
QF_HD inline bool counts(float coefficient) { return !(fabsf(coefficient) < 1.f / 4096); }

/// Nor do those whose middle sample is clipped, which halves the noise.
QF_HD inline bool is_clipped(float level) { return !(level >= 0.5f && level <= 254.5f); }

QF_HD inline int bin_of(float coefficient) {
  const auto code = static_cast<int>((std::bit_cast<std::uint32_t>(coefficient) & 0x7fffffffU) >> 18);
  const int bin = code - first_code + 1;
  return bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
}

QF_HD inline float start_of(int bin) {
  return bin == 0 ? 0.f : std::bit_cast<float>(static_cast<std::uint32_t>(first_code + bin - 1) << 18);
}

/// Noise sigma of `total` magnitudes, whose median is in `bin`: that has `count` of them, and `before` are in
/// the bins below, so that before < total / 2 <= before + count.
QF_HD inline float sigma_in(int bin, std::uint32_t before, std::uint32_t count, std::uint32_t total) {
  const double at = (0.5 * total - before) / count;
  const float from = start_of(bin), to = bin == bins - 1 ? from : start_of(bin + 1);
  return static_cast<float>((from + at * (to - from)) / 0.6745);
}

/// Whether `total` of `all` coefficients that count are enough to say something.
QF_HD inline bool enough(std::uint32_t total, std::uint32_t all) { return total > 0 && total >= all / 64; }

/// One plane's estimate; all zero: nothing is known yet.
struct State {
  double log_sigma = 0;
  int known = 0;
};

/// Whether the looks of a frame and the one before, `difference` levels apart in the mean, are of different
/// scenes. Noise alone makes those of a still scene differ by 2 sigma / sqrt(pi) in the mean.
QF_HD inline bool is_cut(const State& s, float difference) {
  return difference > cut + 1.13f * static_cast<float>(exp(s.log_sigma));
}

/// The sigma that a frame is filtered with, of which `measured` is its own (negative: it does not say), and
/// which lies `seconds` after the one before. The measurement becomes part of what the next frame uses. With
/// nothing known, or after `reset`, the frame's own is used.
QF_HD inline float advance(State& s, float measured, float look_difference, float seconds, bool reset) {
  if (reset) s.known = 0;
  const bool first = s.known == 0, says = measured >= 0.f;
  const float inside = measured < floor ? floor : measured > ceiling ? ceiling : measured;
  const double now = says ? log(static_cast<double>(inside)) : 0;
  const double used = first ? (says ? now : log(static_cast<double>(floor))) : s.log_sigma;
  if (says && (first || is_cut(s, look_difference))) {
    s.log_sigma = now;
  } else if (says) {
    const double step = (now - s.log_sigma) * (1 - exp(-static_cast<double>(seconds) / time_constant)),
                 most = slew * static_cast<double>(seconds);
    s.log_sigma += step < -most ? -most : step > most ? most : step;
  }
  if (says) s.known = 1;
  return static_cast<float>(exp(used));
}

/// Seconds of stream time from one frame to the next.
class Clock {
 public:
  /// `stream_time` in nanoseconds, -1 when unknown: then a thirtieth of a second is assumed.
  float seconds_to(std::int64_t stream_time) {
    const bool known = stream_time >= 0 && time_ >= 0;
    const double passed = known ? static_cast<double>(stream_time - time_) * 1e-9 : 1.0 / 30;
    time_ = stream_time;
    return static_cast<float>(passed < 0 ? 0 : passed > 1 ? 1 : passed);
  }

 private:
  std::int64_t time_ = -1;
};

}  // namespace quietframe::smoothing
