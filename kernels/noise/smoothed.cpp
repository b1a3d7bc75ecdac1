// The noise estimate without flicker: the robust measurement of a frame, and its smoothing over stream time.
#include "noise/smoothed.hpp"

#include <algorithm>
#include <cmath>

#include "filters/wavelet/transform.hpp"
#include "noise/median.hpp"

namespace quietframe {
namespace {

constexpr float least_coefficient = 1.f / 4096;

/// Moves the usable coefficients of `hh` to its front, row after row, and returns how many there are.
int keep_usable(const ImageView<const float>& plane, const ImageView<float>& hh, float* to) {
  int kept = 0;
  for (int j = 0; j < hh.height; ++j) {
    // Coefficient (i, j) of bior4.4 is centred on sample (2i - 3, 2j - 3).
    const float* samples = plane.row(wavelet::reflect(2 * j - 3, plane.height));
    const float* row = hh.row(j);
    for (int i = 0; i < hh.width; ++i) {
      const float middle = samples[wavelet::reflect(2 * i - 3, plane.width)];
      if (middle >= 0.5f && middle <= 254.5f && std::abs(row[i]) >= least_coefficient) to[kept++] = row[i];
    }
  }
  return kept;
}

}  // namespace

NoiseMeasurement measure_noise(const ImageView<const float>& plane, ThreadPool& pool, Scratch& scratch,
                               std::size_t first_buffer) {
  const auto& bank = wavelet::bior44;
  const int w = wavelet::coefficients(plane.width, bank.taps),
            h = wavelet::coefficients(plane.height, bank.taps);
  const auto all = static_cast<std::size_t>(w) * static_cast<std::size_t>(h);
  const auto hh = scratch.plane(first_buffer, w, h);
  float* lines = scratch.floats(first_buffer + 1, wavelet::line_floats(plane.width, pool));
  float* usable = scratch.floats(first_buffer + 2, all);
  wavelet::analyse(bank, plane, {{}, {}, {}, hh}, pool, lines, nullptr);

  NoiseMeasurement m;
  for (int k = 0; k < 256; ++k)
    m.look[static_cast<std::size_t>(k)] =
        plane.row((2 * (k / 16) + 1) * plane.height / 32)[(2 * (k % 16) + 1) * plane.width / 32];
  const int kept = keep_usable(plane, hh, usable);
  if (static_cast<std::size_t>(kept) * 64 < all) return m;
  AbsMedian median(pool, scratch, first_buffer + 3, static_cast<std::size_t>(kept));
  median.count(usable, kept, 0);
  m.sigma = mad_to_sigma(median.median({usable, kept, 1, std::ptrdiff_t{kept} * 4}));
  return m;
}

bool SmoothedSigma::is_cut(const NoiseMeasurement& m) const {
  float sum = 0;
  for (std::size_t k = 0; k < m.look.size(); ++k) sum += std::abs(m.look[k] - last_.look[k]);
  // Noise alone makes the looks of a still scene differ by 2 sigma / sqrt(pi) in the mean.
  const float noise = 1.13f * static_cast<float>(std::exp(log_sigma_));
  return sum / static_cast<float>(m.look.size()) > cut + noise;
}

float SmoothedSigma::next(const NoiseMeasurement& m, std::int64_t stream_time, bool reset) {
  if (reset) known_ = false;
  const bool measured = m.sigma >= 0.f;
  const double now = measured ? std::log(static_cast<double>(std::clamp(m.sigma, floor, ceiling))) : 0;
  const bool first = !known_;
  const double used = first ? (measured ? now : std::log(static_cast<double>(floor))) : log_sigma_;
  double seconds = 1.0 / 30;
  if (!first && stream_time >= 0 && time_ >= 0)
    seconds = std::clamp(static_cast<double>(stream_time - time_) * 1e-9, 0.0, 1.0);
  if (measured) {
    if (first || is_cut(m)) {
      log_sigma_ = now;
    } else {
      const double step = (now - log_sigma_) * (1 - std::exp(-seconds / time_constant));
      log_sigma_ += std::clamp(step, -slew * seconds, slew * seconds);
    }
    known_ = true;
  }
  last_ = m;
  time_ = stream_time;
  return static_cast<float>(std::exp(used));
}

}  // namespace quietframe
