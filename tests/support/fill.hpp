// What test frames are filled with: the same levels in every format, at its own depth.
#pragma once
#include <cmath>
#include <random>
#include <vector>

#include "sample.hpp"
#include "support/guarded_frame.hpp"

namespace quietframe::test {

enum class Fill { zero, maximum, ramp, checker, random, scene };
inline constexpr Fill all_fills[] = {Fill::zero,    Fill::maximum, Fill::ramp,
                                     Fill::checker, Fill::random,  Fill::scene};

/// Level of a test scene: a smooth shade, a disc with a sharp edge, and stripes.
inline float scene_level(int channel, int x, int y) {
  const float fx = static_cast<float>(x), fy = static_cast<float>(y), c = static_cast<float>(channel);
  const float shade = 110.f + 50.f * std::sin(0.05f * fx + c) * std::cos(0.04f * fy);
  const float disc = std::hypot(fx - 24.f - 3.f * c, fy - 18.f) < 11.f ? 60.f : 0.f;
  const float stripes = (x / 3 + y / 5) % 7 == 0 ? 25.f : 0.f;
  return shade + disc - stripes;
}

/// Fills every sample of `frame`; scene has Gaussian noise of `noise` levels. Alpha and padding bytes in
/// packed pixels count up.
inline void fill(const Frame& frame, Fill what, unsigned seed, float noise = 12.f) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.f, 255.f);
  std::normal_distribution<float> gauss(0.f, noise);
  const auto& info = format_info(frame.format.format);
  for (int g = 0; g < info.groups; ++g) {
    const auto v = group_view(frame, g);
    for_each_sample(v, [&](int c, int x, int y, std::byte* p) {
      float level = 0.f;
      if (what == Fill::maximum) level = 255.f;
      if (what == Fill::ramp) level = static_cast<float>((x * 5 + y * 3 + c * 40) % 256);
      if (what == Fill::checker) level = (x + y + c) % 2 == 0 ? 0.f : 255.f;
      if (what == Fill::random) level = uniform(random);
      if (what == Fill::scene) level = scene_level(c, x, y) + gauss(random);
      with_sample_type(v.type, [&]<SampleType S>() {
        store_level<S>(p, v.shift, 1.f / v.levels_per_code, v.max_code, level);
      });
    });
    if (v.carry)
      for (int y = 0; y < v.height; ++y)
        for (int x = 0; x < v.width; ++x)
          v.carry[y * v.stride[0] + std::ptrdiff_t{x} * v.step] = static_cast<std::byte>(x + 3 * y + seed);
  }
}

/// Largest difference between two frames of one format, and where.
struct Difference {
  double levels = 0;
  double codes = 0;  ///< the same in codes, counted as integers; float formats: as levels
  int group = 0, channel = 0, x = 0, y = 0;
};

inline Difference largest_difference(const Frame& a, const Frame& b) {
  Difference worst;
  const auto& info = format_info(a.format.format);
  for (int g = 0; g < info.groups; ++g) {
    const auto va = group_view(a, g), vb = group_view(b, g);
    with_sample_type(va.type, [&]<SampleType S>() {
      for_each_sample(va, [&](int c, int x, int y, std::byte* p) {
        const std::byte* q = vb.channel[c] + y * vb.stride[c] + std::ptrdiff_t{x} * vb.step;
        const double l = load_level<S>(p, va.shift, va.levels_per_code),
                     m = load_level<S>(q, vb.shift, vb.levels_per_code);
        const double d = l == m || (std::isnan(l) && std::isnan(m)) ? 0 : std::abs(l - m);
        if (std::isnan(worst.levels) || d <= worst.levels) return;  // a NaN against a number stays the worst
        double codes = d;
        if constexpr (S != SampleType::f32)
          codes = std::abs(load_code<S>(p, va.shift) - load_code<S>(q, vb.shift));
        worst = {d, codes, g, c, x, y};
      });
    });
  }
  return worst;
}

/// Whether samples and carried bytes are equal, bit for bit.
inline bool same_bytes(const Frame& a, const Frame& b) {
  const auto& info = format_info(a.format.format);
  for (int p = 0; p < info.planes; ++p) {
    const auto size = plane_size(info, p, a.format.width, a.format.height);
    for (int y = 0; y < size.rows; ++y)
      if (std::memcmp(a.plane[p] + y * a.stride[p], b.plane[p] + y * b.stride[p],
                      static_cast<std::size_t>(size.row_bytes)) != 0)
        return false;
  }
  return true;
}

/// Root mean square difference in levels.
inline double rms_difference(const Frame& a, const Frame& b) {
  double sum = 0, n = 0;
  const auto& info = format_info(a.format.format);
  for (int g = 0; g < info.groups; ++g) {
    const auto va = group_view(a, g), vb = group_view(b, g);
    with_sample_type(va.type, [&]<SampleType S>() {
      for_each_sample(va, [&](int c, int x, int y, std::byte* p) {
        const std::byte* q = vb.channel[c] + y * vb.stride[c] + std::ptrdiff_t{x} * vb.step;
        const double d =
            load_level<S>(p, va.shift, va.levels_per_code) - load_level<S>(q, vb.shift, vb.levels_per_code);
        sum += d * d;
        ++n;
      });
    });
  }
  return std::sqrt(sum / n);
}

}  // namespace quietframe::test
