// Noise has the statistics it promises and is the same bytes whatever the number of threads.
#include "noise/models.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "noise/philox.hpp"
#include "noise/portable_math.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

// The known answers that come with Random123.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, ~std::uint64_t{0}),
            (RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PortableMath, AgreesWithTheCLibrary) {
  for (double x = 1e-12; x < 1e12; x *= 1.37)
    EXPECT_NEAR(portable::log(x), std::log(x), 1e-15 * (1 + std::abs(std::log(x))));
  for (double x = -50; x < 50; x += 0.173) EXPECT_NEAR(portable::exp(x) / std::exp(x), 1, 1e-15);
  for (double t = -3; t < 3; t += 0.01371) {
    const auto v = portable::cos_sin(t);
    EXPECT_NEAR(v.cos, std::cos(2 * M_PI * t), 4e-15);
    EXPECT_NEAR(v.sin, std::sin(2 * M_PI * t), 4e-15);
  }
}

struct Plane {
  int width, height;
  std::vector<float> data;
  Plane(int w, int h, float fill)
      : width(w), height(h), data(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), fill) {}
  ImageView<float> view() { return {data.data(), width, height, width * 4}; }
};

struct Stats {
  double mean = 0, sigma = 0;
};

Stats stats(const std::vector<float>& v) {
  double sum = 0, squares = 0;
  for (const float x : v) sum += static_cast<double>(x);
  const double mean = sum / static_cast<double>(v.size());
  for (const float x : v) squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
  return {mean, std::sqrt(squares / static_cast<double>(v.size()))};
}

Plane noisy(NoiseModel model, float strength, float level, ThreadPool& pool, NoiseStream stream = {}) {
  Plane p(512, 384, level);
  add_noise(as_const(p.view()), p.view(), {model, strength}, stream, pool);
  return p;
}

TEST(Noise, HasThePromisedMoments) {
  ThreadPool pool(2);
  const double n = 512 * 384;
  auto expect = [&](NoiseModel model, float strength, float level, double mean, double sigma) {
    const auto s = stats(noisy(model, strength, level, pool).data);
    // Five standard errors, so that a right generator passes with any seed.
    EXPECT_NEAR(s.mean, mean, 5 * sigma / std::sqrt(n) + 1e-4) << static_cast<int>(model) << " at " << level;
    EXPECT_NEAR(s.sigma, sigma, 5 * sigma / std::sqrt(n) + 1e-4)
        << static_cast<int>(model) << " at " << level;
  };
  expect(NoiseModel::gaussian, 20, 100, 100, 20);
  expect(NoiseModel::speckle, 25.5f, 100, 100, 10);
  // Rayleigh at level 0: mean sigma sqrt(pi/2), variance (2 - pi/2) sigma^2.
  expect(NoiseModel::rician, 20, 0, 20 * std::sqrt(M_PI / 2), 20 * std::sqrt(2 - M_PI / 2));
  // Poisson: mean as it was, variance falls with the level; both sides of the change of method at 10 photons.
  expect(NoiseModel::poisson, 20, 255, 255, 20);
  expect(NoiseModel::poisson, 20, 16, 16, 20 * std::sqrt(16 / 255.0));
  expect(NoiseModel::poisson, 20, 15.5, 15.5, 20 * std::sqrt(15.5 / 255.0));
  expect(NoiseModel::poisson, 20, 1, 1, 20 * std::sqrt(1 / 255.0));
  expect(NoiseModel::poisson, 0.5, 200, 200, 0.5 * std::sqrt(200 / 255.0));
}

TEST(Noise, SaltAndPepperHitsItsShare) {
  ThreadPool pool(2);
  const auto p = noisy(NoiseModel::salt_pepper, 10, 128, pool);
  int salt = 0, pepper = 0, other = 0;
  for (const float v : p.data) ++(v == 255 ? salt : v == 0 ? pepper : other);
  const double n = static_cast<double>(p.data.size()), error = 5 * std::sqrt(n * 0.05);
  EXPECT_NEAR(salt, 0.05 * n, error);
  EXPECT_NEAR(pepper, 0.05 * n, error);
  EXPECT_EQ(salt + pepper + other, p.data.size());
  for (const float v : p.data) ASSERT_TRUE(v == 0 || v == 255 || v == 128);
}

std::uint64_t fnv(const std::vector<float>& data) {
  std::uint64_t h = 14695981039346656037U;
  for (const float f : data) h = (h ^ std::bit_cast<std::uint32_t>(f)) * 1099511628211U;
  return h;
}

TEST(Noise, IsTheSameOnAnyNumberOfThreadsAndDiffersByStream) {
  ThreadPool one(1), five(5);
  for (const auto model : {NoiseModel::gaussian, NoiseModel::rician, NoiseModel::salt_pepper,
                           NoiseModel::speckle, NoiseModel::poisson}) {
    const auto a = noisy(model, 20, 90, one).data;
    EXPECT_EQ(fnv(a), fnv(noisy(model, 20, 90, five).data));
    for (const NoiseStream other : {NoiseStream{2, 0, 0}, NoiseStream{1, 1, 0}, NoiseStream{1, 0, 1}})
      EXPECT_NE(fnv(a), fnv(noisy(model, 20, 90, one, other).data));
  }
}

TEST(Motion, NoneIsExactAndWholePixelsShiftExactly) {
  ThreadPool pool(2);
  auto in = noisy(NoiseModel::gaussian, 40, 100, pool);
  Plane out(in.width, in.height, 0);
  move_rigidly(as_const(in.view()), out.view(), {}, pool);
  EXPECT_EQ(in.data, out.data);
  move_rigidly(as_const(in.view()), out.view(), {5, -3, 0}, pool);
  for (int y = 0; y < in.height - 3; ++y)
    for (int x = 5; x < in.width; ++x) ASSERT_EQ(out.view().row(y)[x], in.view().row(y + 3)[x - 5]);
}

TEST(Motion, QuarterTurnOfASquareIsAPermutation) {
  ThreadPool pool(2);
  Plane in(65, 65, 0), out(65, 65, 0);
  add_noise(as_const(in.view()), in.view(), {NoiseModel::gaussian, 30}, {}, pool);
  move_rigidly(as_const(in.view()), out.view(), {0, 0, 90}, pool);
  for (int y = 0; y < 65; ++y)
    for (int x = 0; x < 65; ++x) ASSERT_NEAR(out.view().row(y)[x], in.view().row(64 - x)[y], 1e-3f);
}

TEST(Motion, StaysWithinItsBounds) {
  double largest = 0;
  for (std::uint32_t f = 0; f < 1000; ++f) {
    const auto m = random_motion(15, 10, 7, f);
    ASSERT_LE(std::abs(m.shift_x), 15);
    ASSERT_LE(std::abs(m.shift_y), 15);
    ASSERT_LE(std::abs(m.degrees), 10);
    largest = std::max(largest, std::abs(m.shift_x));
  }
  EXPECT_GT(largest, 14);
}

}  // namespace
}  // namespace quietframe
