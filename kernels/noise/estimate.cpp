// The shared noise estimate on the CPU: HH of one bior4.4 step, and an exact median by counting on the float
// bits.
#include "noise/estimate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "thread_pool.hpp"

namespace quietframe {
namespace {

// The high-pass analysis filter of bior4.4 without its zero ends (PyWavelets' dec_hi[1..7]).
constexpr int taps = 7;
constexpr float high[taps] = {-0.06453888262869706f, 0.04068941760916406f, 0.41809227322161724f,
                              -0.7884856164055829f,  0.41809227322161724f, 0.04068941760916406f,
                              -0.06453888262869706f};
// Coefficient i of PyWavelets' dwt reads samples 2i+1-9+... : with dec_hi[1..7] it reads 2i-6 .. 2i, newest
// tap first.
constexpr int first_sample = -6;

int coefficients(int n) { return (n + 9) / 2; }

// Half-sample symmetric extension of any length: ... x1 x0 | x0 x1 ... x(n-1) | x(n-1) ...
int reflect(int i, int n) {
  const int period = 2 * n;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - 1 - i;
}

// Smallest value v of |values| such that more than `rank` of them are <= v: the rank-th order statistic, from
// 0. Two passes of counting on the high and low 16 bits; non-negative floats order as integers do.
float order_statistic(const float* values, std::size_t count, std::size_t rank) {
  std::vector<std::uint32_t> histogram(1U << 16, 0);
  auto key = [&](std::size_t i) { return std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffU; };
  for (std::size_t i = 0; i < count; ++i) ++histogram[key(i) >> 16];
  std::uint32_t high_half = 0;
  std::size_t below = 0;
  while (below + histogram[high_half] <= rank) below += histogram[high_half++];
  std::ranges::fill(histogram, 0U);
  for (std::size_t i = 0; i < count; ++i)
    if (key(i) >> 16 == high_half) ++histogram[key(i) & 0xffffU];
  std::uint32_t low_half = 0;
  while (below + histogram[low_half] <= rank) below += histogram[low_half++];
  return std::bit_cast<float>(high_half << 16 | low_half);
}

}  // namespace

float median_abs(const float* values, std::size_t count, ThreadPool&) {
  const float upper = order_statistic(values, count, count / 2);
  if (count % 2 == 1) return upper;
  const float lower = order_statistic(values, count, count / 2 - 1);
  return (lower + upper) * 0.5f;
}

float estimate_sigma(const ImageView<const float>& plane, ThreadPool& pool, Scratch& scratch,
                     std::size_t first_buffer) {
  const int w = coefficients(plane.width), h = coefficients(plane.height);
  const auto rows = scratch.plane(first_buffer, w, plane.height);
  float* hh = scratch.floats(first_buffer + 1, static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
  pool.parallel_for(plane.height, 32, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      const float* in = plane.row(y);
      float* out = rows.row(y);
      for (int i = 0; i < w; ++i) {
        float sum = 0;
        for (int t = 0; t < taps; ++t)
          sum += high[t] * in[reflect(2 * i + first_sample + taps - 1 - t, plane.width)];
        out[i] = sum;
      }
    }
  });
  pool.parallel_for(h, 32, [&](int begin, int end, int) {
    for (int j = begin; j < end; ++j) {
      float* out = hh + static_cast<std::size_t>(j) * static_cast<std::size_t>(w);
      std::fill(out, out + w, 0.f);
      for (int t = 0; t < taps; ++t) {
        const float* in = rows.row(reflect(2 * j + first_sample + taps - 1 - t, plane.height));
        for (int i = 0; i < w; ++i) out[i] += high[t] * in[i];
      }
    }
  });
  return median_abs(hh, static_cast<std::size_t>(w) * static_cast<std::size_t>(h), pool) * mad_to_sigma;
}

}  // namespace quietframe
