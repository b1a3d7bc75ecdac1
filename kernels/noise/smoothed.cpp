// The smoothed noise estimate on the CPU: the measurement of a frame, and its step over stream time.
#include "noise/smoothed.hpp"

#include <cmath>

#include "filters/wavelet/transform.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

/// Counts the coefficients of row j of `hh` that say something of the noise.
void count_row(const ImageView<const float>& plane, const ImageView<const float>& hh, int j,
               std::uint32_t* counts) {
  // Coefficient (i, j) of bior4.4 is centred on sample (2i - 3, 2j - 3).
  const float* samples = plane.row(wavelet::reflect(2 * j - 3, plane.height));
  const float* row = hh.row(j);
  for (int i = 0; i < hh.width; ++i)
    if (!smoothing::is_clipped(samples[wavelet::reflect(2 * i - 3, plane.width)]) &&
        smoothing::counts(row[i]))
      ++counts[smoothing::bin_of(row[i])];
}

float sigma_of(const std::uint32_t* counts, std::uint32_t all) {
  std::uint32_t total = 0;
  for (int i = 0; i < smoothing::bins; ++i) total += counts[i];
  if (!smoothing::enough(total, all)) return -1.f;
  std::uint32_t before = 0;
  int bin = 0;
  while (2.0 * (before + counts[bin]) < total) before += counts[bin++];
  return smoothing::sigma_in(bin, before, counts[bin], total);
}

}  // namespace

NoiseMeasurement measure_noise(const ImageView<const float>& plane, ThreadPool& pool, Scratch& scratch,
                               std::size_t first_buffer) {
  const auto& bank = wavelet::bior44;
  const int w = wavelet::coefficients(plane.width, bank.taps),
            h = wavelet::coefficients(plane.height, bank.taps);
  const auto hh = scratch.plane(first_buffer, w, h);
  float* lines = scratch.floats(first_buffer + 1, wavelet::line_floats(plane.width, pool));
  const auto lanes = static_cast<std::size_t>(pool.lanes());
  auto* counts = scratch.items<std::uint32_t>(first_buffer + 2, lanes * smoothing::bins);
  std::fill(counts, counts + lanes * smoothing::bins, 0U);
  wavelet::analyse(bank, plane, {{}, {}, {}, hh}, pool, lines, nullptr);
  pool.parallel_for(h, 64, [&](int begin, int end, int lane) {
    for (int j = begin; j < end; ++j)
      count_row(plane, as_const(hh), j, counts + static_cast<std::size_t>(lane) * smoothing::bins);
  });
  for (std::size_t i = smoothing::bins; i < lanes * smoothing::bins; ++i)
    counts[i % smoothing::bins] += counts[i];

  NoiseMeasurement m;
  m.sigma = sigma_of(counts, static_cast<std::uint32_t>(w) * static_cast<std::uint32_t>(h));
  for (int k = 0; k < smoothing::look_size; ++k)
    m.look[static_cast<std::size_t>(k)] = plane.row(smoothing::look_at(
        k / smoothing::look_side, plane.height))[smoothing::look_at(k % smoothing::look_side, plane.width)];
  return m;
}

float SmoothedSigma::next(const NoiseMeasurement& m, std::int64_t stream_time, bool reset) {
  float difference = 0;
  for (std::size_t k = 0; k < m.look.size(); ++k) difference += std::abs(m.look[k] - last_.look[k]);
  last_ = m;
  return smoothing::advance(state_, m.sigma, difference / smoothing::look_size,
                            clock_.seconds_to(stream_time), reset);
}

}  // namespace quietframe
