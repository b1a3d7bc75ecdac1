// The wavelet filter against PyWavelets (tests/golden/wavelet_golden.py), its noise estimate against sorting,
// and what it must never do: depend on threads, move a constant, change a frame at threshold zero.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <vector>

#include "filters/wavelet/transform.hpp"
#include "noise/estimate.hpp"
#include "noise/median.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

using wavelet::Basis;
using wavelet::Params;
using wavelet::Rule;

struct Image {
  int width, height;
  std::vector<float> data;

  Image(int w, int h)
      : width(w), height(h), data(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  ImageView<float> view() { return {data.data(), width, height, std::ptrdiff_t{width} * 4}; }
};

// The golden script's generator.
Image noise(int width, int height, std::uint32_t seed) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.data.size(); ++i)
    image.data[i] = static_cast<float>(((seed + static_cast<std::uint32_t>(i)) * 2654435761U) >> 24);
  return image;
}

struct Filtered {
  Image out;
  float sigma;
};

Filtered run(Image& in, const Params& p, float sigma, ThreadPool& pool) {
  Filtered result{Image(in.width, in.height), 0};
  std::ranges::fill(result.out.data, NAN);
  Scratch scratch;
  CpuJob job{{1, {in.view()}}, {1, {result.out.view()}}, {}, {sigma}, pool, scratch};
  wavelet::run_cpu(job, p);
  result.sigma = job.sigma[0];
  return result;
}

float max_difference(const Image& a, const Image& b) {
  float worst = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    const float d = std::abs(a.data[i] - b.data[i]);
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

TEST(Wavelet, APresetIsItsLevelsAlphaAndDecayWhateverElseIsSet) {
  ThreadPool pool(2);
  Image in = noise(41, 37, 9);
  auto filtered = [&](wavelet::Preset preset, int levels, float alpha, float decay) {
    Params p;
    p.preset = preset;
    p.levels = levels;
    p.alpha = alpha;
    p.decay = decay;
    p.basis = Basis::sym4;
    return run(in, p, -1.f, pool).out.data;
  };
  using wavelet::Preset;
  EXPECT_EQ(filtered(Preset::strong, 1, 1.f, 1.f), filtered(Preset::paper, 3, 2.5f, 0.6f));
  EXPECT_EQ(filtered(Preset::strong, 4, 0.5f, 0.5f), filtered(Preset::paper, 4, 1.25f, 0.3f));
  EXPECT_NE(filtered(Preset::strong, 1, 1.f, 1.f), filtered(Preset::paper, 1, 1.f, 1.f));
}

// Decay 0 leaves the coarser levels as they are, so that only the finest is filtered: all the same as one
// level.
TEST(Wavelet, DecayIsOfTheCoarserLevels) {
  ThreadPool pool(2);
  Image in = noise(64, 48, 3);
  Params one, three;
  three.levels = 3;
  three.decay = 0.f;
  EXPECT_LT(max_difference(run(in, one, 20.f, pool).out, run(in, three, 20.f, pool).out), 1e-3f);
  three.decay = 0.5f;
  EXPECT_GT(max_difference(run(in, one, 20.f, pool).out, run(in, three, 20.f, pool).out), 1.f);
}

float median_by_sorting(std::vector<float> values) {
  for (auto& v : values) v = std::abs(v);
  std::ranges::sort(values);
  const auto n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) * 0.5f;
}

struct GoldenHeader {
  std::int32_t width, height, basis, levels, rule, seed, given;
  float sigma, mad;
};

TEST(Wavelet, EqualsPyWavelets) {
  std::ifstream file(QF_GOLDEN_DIR "/wavelet.bin", std::ios::binary);
  ASSERT_TRUE(file) << QF_GOLDEN_DIR "/wavelet.bin is made by tests/golden/wavelet_golden.py";
  ThreadPool pool(2);
  int cases = 0;
  for (GoldenHeader h; file.read(reinterpret_cast<char*>(&h), sizeof h); ++cases) {
    Image golden(h.width, h.height);
    ASSERT_TRUE(file.read(reinterpret_cast<char*>(golden.data.data()),
                          static_cast<std::streamsize>(golden.data.size() * sizeof(float))));
    Params p;
    p.basis = static_cast<Basis>(h.basis);
    p.levels = h.levels;
    p.threshold = static_cast<Rule>(h.rule);
    auto in = noise(h.width, h.height, static_cast<std::uint32_t>(h.seed));
    const auto ours = run(in, p, h.given ? h.sigma : -1.f, pool);
    const auto name = std::to_string(h.width) + "x" + std::to_string(h.height) + " basis " +
                      std::to_string(h.basis) + " levels " + std::to_string(h.levels) + " rule " +
                      std::to_string(h.rule);
    EXPECT_LE(max_difference(ours.out, golden), 1e-3f) << name;
    EXPECT_NEAR(ours.sigma, h.sigma, 1e-4f) << name;
    if (p.basis == Basis::bior44) {
      Scratch scratch;
      EXPECT_NEAR(estimate_sigma(as_const(in.view()), pool, scratch, 0), h.mad, 1e-4f) << name;
    }
  }
  EXPECT_GE(cases, 5 * 8 * 4);
}

TEST(Wavelet, ZeroThresholdGivesTheInputBack) {
  ThreadPool pool(2);
  for (const auto basis : {Basis::haar, Basis::db4, Basis::sym4, Basis::coif2, Basis::bior44})
    for (const auto rule : {Rule::soft, Rule::hard, Rule::garrote})
      for (int levels = 1; levels <= wavelet::max_levels; ++levels)
        for (const auto& [w, h] : {std::pair{1, 1}, {1, 40}, {129, 2}, {67, 101}}) {
          Params p;
          p.basis = basis;
          p.threshold = rule;
          p.levels = levels;
          p.alpha = 0;
          auto in = noise(w, h, 77);
          EXPECT_LE(max_difference(run(in, p, -1.f, pool).out, in), 1e-3f)
              << w << "x" << h << " levels " << levels << " basis " << static_cast<int>(basis);
        }
}

TEST(Wavelet, ConstantsStayConstantAndNoiseless) {
  ThreadPool pool(1);
  for (const auto basis : {Basis::haar, Basis::db4, Basis::sym4, Basis::coif2, Basis::bior44}) {
    Params p;
    p.basis = basis;
    p.levels = 3;
    Image in(50, 35);
    std::ranges::fill(in.data, 200.f);
    const auto ours = run(in, p, -1.f, pool);
    EXPECT_LE(max_difference(ours.out, in), 1e-3f);
    EXPECT_LE(ours.sigma, 1e-4f);
  }
}

TEST(Wavelet, ThreadsAndBandsAreInvisible) {
  ThreadPool one(1), five(5);
  auto in = noise(211, 307, 5);
  Params p;
  p.levels = 4;
  const auto a = run(in, p, -1.f, one), b = run(in, p, -1.f, five);
  EXPECT_EQ(a.out.data, b.out.data);
  EXPECT_EQ(a.sigma, b.sigma);
}

TEST(Wavelet, EveryThresholdActsOnItsSubbandAlone) {
  ThreadPool pool(1);
  auto in = noise(64, 64, 9);
  auto subbands_of_output = [&](const Params& p) {
    // haar has no overlap: the output's subbands are the thresholded ones.
    auto out = run(in, p, 10.f, pool).out;
    std::vector<Image> bands(4, Image(32, 32));
    Scratch scratch;
    wavelet::analyse(wavelet::haar, as_const(out.view()),
                     {bands[0].view(), bands[1].view(), bands[2].view(), bands[3].view()}, pool,
                     scratch.floats(0, wavelet::line_floats(64, pool)), nullptr);
    return bands;
  };
  Params none;
  none.basis = Basis::haar;
  none.beta_lh = none.beta_hl = none.beta_hh = 0;
  const auto before = subbands_of_output(none);
  float Params::*betas[] = {&Params::beta_lh, &Params::beta_hl, &Params::beta_hh};
  for (std::size_t b = 0; b < 3; ++b) {
    auto p = none;
    p.*betas[b] = 10;
    const auto after = subbands_of_output(p);
    for (std::size_t s = 0; s < 4; ++s) {
      const float change = max_difference(before[s], after[s]);
      if (s == b + 1)
        EXPECT_GT(change, 1.f) << s;
      else
        EXPECT_LE(change, 1e-3f) << s;
    }
  }
}

TEST(AbsMedian, EqualsSortingToTheLastBit) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0.f, 7.f);
  ThreadPool pool(3);
  Scratch scratch;
  for (int count = 1; count < 300; ++count)
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<float> values(static_cast<std::size_t>(count));
      for (auto& v : values) {
        v = normal(random);
        if (kind == 1) v = std::round(v / 7.f);             // few values, many zeros
        if (kind == 2) v = 3.f;                             // one value
        if (kind == 3) v = v < 0 ? 1e-30f * v : 1e30f * v;  // middle two far apart
        if (kind == 4) v = std::ldexp(v, static_cast<int>(random() % 60) - 30);
      }
      AbsMedian median(pool, scratch, 0, values.size());
      for (int i = 0; i < count; ++i) median.count(&values[static_cast<std::size_t>(i)], 1, i % pool.lanes());
      const ImageView<const float> view{values.data(), count, 1, count * 4};
      EXPECT_EQ(median.median(view), median_by_sorting(values)) << count << " kind " << kind;
    }
}

TEST(AbsMedian, SigmaIsTheMedianOfTheFilterOwnCoefficients) {
  ThreadPool pool(2);
  for (const auto& [w, h] : {std::pair{64, 48}, {65, 49}, {640, 480}, {3, 200}}) {
    auto in = noise(w, h, 31);
    const int cw = wavelet::coefficients(w, 10), ch = wavelet::coefficients(h, 10);
    std::vector<Image> bands(4, Image(cw, ch));
    Scratch scratch;
    wavelet::analyse(wavelet::bior44, as_const(in.view()),
                     {bands[0].view(), bands[1].view(), bands[2].view(), bands[3].view()}, pool,
                     scratch.floats(0, wavelet::line_floats(w, pool)), nullptr);
    const float expected = median_by_sorting(bands[3].data) / 0.6745f;
    Scratch other;
    EXPECT_EQ(estimate_sigma(as_const(in.view()), pool, other, 0), expected);
    EXPECT_EQ(run(in, {}, -1.f, pool).sigma, expected);
  }
}

}  // namespace
}  // namespace quietframe
