// The smoothed noise estimate: no dependence on frames in flight, no flicker, no jump, and masked pictures
// are not noise-free.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "noise/estimate.hpp"
#include "noise/smoothed.hpp"
#include "processor.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

constexpr std::int64_t frame_ns = 1'000'000'000 / 30;

NoiseMeasurement measurement(float sigma, float level = 100.f) {
  NoiseMeasurement m;
  m.sigma = sigma;
  m.look.fill(level);
  return m;
}

TEST(SmoothedSigma, FirstFrameUsesItsOwnThenTheOnesBefore) {
  SmoothedSigma s;
  EXPECT_FLOAT_EQ(s.next(measurement(5), 0, true), 5.f);
  EXPECT_FLOAT_EQ(s.next(measurement(8), frame_ns, false), 5.f);  // not yet its own
  EXPECT_GT(s.next(measurement(8), 2 * frame_ns, false), 5.f);
}

TEST(SmoothedSigma, SlewIsLimitedAndTheEstimateArrives) {
  SmoothedSigma s;
  s.next(measurement(2), 0, true);
  float before = 2.f, sigma = 2.f;
  for (int i = 1; i < 150; ++i) {
    sigma = s.next(measurement(20), i * frame_ns, false);
    EXPECT_LE(sigma, before * std::exp(1.5f / 30) * 1.0001f);
    EXPECT_GE(sigma, before * 0.9999f);
    before = sigma;
  }
  EXPECT_NEAR(sigma, 20.f, 0.5f);
}

TEST(SmoothedSigma, SmoothsOverTimeNotFrames) {
  SmoothedSigma slow, fast;
  slow.next(measurement(5), 0, true);
  fast.next(measurement(5), 0, true);
  for (int i = 1; i <= 10; ++i) slow.next(measurement(5.2f), i * 2 * frame_ns, false);
  for (int i = 1; i <= 20; ++i) fast.next(measurement(5.2f), i * frame_ns, false);
  EXPECT_NEAR(slow.next(measurement(5.2f), 22 * frame_ns, false),
              fast.next(measurement(5.2f), 21 * frame_ns, false), 1e-4f);
}

TEST(SmoothedSigma, ResetAndCutStartAnew) {
  SmoothedSigma s;
  s.next(measurement(2), 0, true);
  s.next(measurement(2), frame_ns, false);
  EXPECT_FLOAT_EQ(s.next(measurement(9), 2 * frame_ns, true), 9.f);
  s.next(measurement(30, 180.f), 3 * frame_ns, false);  // another scene
  EXPECT_FLOAT_EQ(s.next(measurement(30, 180.f), 4 * frame_ns, false), 30.f);
}

TEST(SmoothedSigma, FloorsCeilingsAndFramesThatSayNothing) {
  SmoothedSigma s;
  EXPECT_FLOAT_EQ(s.next(measurement(-1), 0, true), smoothing::floor);
  EXPECT_FLOAT_EQ(s.next(measurement(4), frame_ns, false), 4.f);
  EXPECT_FLOAT_EQ(s.next(measurement(-1), 2 * frame_ns, false), 4.f);
  EXPECT_FLOAT_EQ(s.next(measurement(1e6f), 3 * frame_ns, true), smoothing::ceiling);
}

TEST(SmoothedSigma, MaskedAndClippedAreasDoNotCount) {
  const int w = 256, h = 200;
  std::mt19937 random(4);
  std::normal_distribution<float> noise(0.f, 6.f);
  std::vector<float> picture(static_cast<std::size_t>(w) * h, 0.f);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w / 3; ++x) picture[static_cast<std::size_t>(y) * w + x] = 100.f + noise(random);
  const ImageView<const float> view{picture.data(), w, h, w * 4};
  ThreadPool pool(2);
  Scratch scratch;
  EXPECT_LT(estimate_sigma(view, pool, scratch, 0), 0.1f);  // two thirds are a black mask
  EXPECT_NEAR(measure_noise(view, pool, scratch, 0).sigma, 6.f, 0.7f);
  std::ranges::fill(picture, 0.f);
  EXPECT_LT(measure_noise(view, pool, scratch, 0).sigma, 0.f);
}

// The histogram's bins are 3 % wide: interpolation makes that far less than a frame's own uncertainty.
TEST(SmoothedSigma, AgreesWithTheExactEstimateOnPlainNoise) {
  const int w = 512, h = 512;
  std::mt19937 random(6);
  std::vector<float> picture(static_cast<std::size_t>(w) * h);
  const ImageView<const float> view{picture.data(), w, h, w * 4};
  ThreadPool pool(2);
  Scratch scratch;
  for (float sigma = 0.1f; sigma < 28.f; sigma *= 1.17f) {
    std::normal_distribution<float> noise(128.f, sigma);
    for (auto& v : picture) v = std::clamp(noise(random), 1.f, 254.f);
    const float exact = estimate_sigma(view, pool, scratch, 0);
    EXPECT_NEAR(measure_noise(view, pool, scratch, 0).sigma, exact, 3e-4f + 1e-3f * exact);
  }
}

TEST(SmoothedSigma, BinsCoverEveryMagnitudeInOrder) {
  for (int i = 1; i < smoothing::bins; ++i) {
    EXPECT_EQ(smoothing::bin_of(smoothing::start_of(i)), i);
    EXPECT_EQ(smoothing::bin_of(-std::nextafter(smoothing::start_of(i), 0.f)), i - 1);
  }
  EXPECT_EQ(smoothing::bin_of(0.f), 0);
  EXPECT_EQ(smoothing::bin_of(1e30f), smoothing::bins - 1);
}

TEST(SmoothedSigma, FramesInFlightChangeNothing) {
  const FrameFormat format{PixelFormat::nv12, 96, 64, 0};
  const auto bytes = pack_frame(format, nullptr, nullptr);
  constexpr int frames = 24;
  std::mt19937 random(9);
  std::vector<std::vector<std::byte>> in(frames, std::vector<std::byte>(bytes));
  for (std::size_t f = 0; f < frames; ++f)
    for (auto& b : in[f]) b = static_cast<std::byte>(90 + random() % (10 + 3 * f));
  auto settings = default_settings(*find_filter("wavelet"));
  settings.common.noise_estimate = NoiseEstimate::smoothed;
  auto run = [&](std::size_t slots, int threads) {
    auto processor = make_cpu_processor(threads);
    processor->configure(format, static_cast<int>(slots));
    std::vector<std::vector<std::byte>> out(frames, std::vector<std::byte>(bytes));
    std::vector<float> sigma;
    std::vector<std::uint64_t> pending;
    auto wait_first = [&] {
      sigma.push_back(processor->wait(pending.front()).sigma[0][0]);
      pending.erase(pending.begin());
    };
    for (std::size_t f = 0; f < frames; ++f) {
      if (pending.size() == slots) wait_first();
      Frame a, b;
      pack_frame(format, in[f].data(), &a);
      pack_frame(format, out[f].data(), &b);
      settings.stream_time = static_cast<std::int64_t>(f) * frame_ns;
      settings.reset_history = f == 0;
      settings.common.noise_sigma = f == 7 ? 3.f : 0.f;  // a frame that takes no part
      pending.push_back(processor->submit(a, b, settings));
    }
    while (!pending.empty()) wait_first();
    return std::pair{out, sigma};
  };
  const auto one = run(1, 1), eight = run(8, 4);
  EXPECT_EQ(one.second, eight.second);
  EXPECT_EQ(one.first, eight.first);
  EXPECT_GT(one.second.back(), one.second.front());
}

}  // namespace
}  // namespace quietframe
