// The measures against closed forms; tests/quality compares them with scikit-image.
#include "quality/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "noise/models.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

struct Plane {
  int width, height;
  std::vector<float> data;
  Plane(int w, int h, float fill)
      : width(w), height(h), data(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), fill) {}
  ImageView<float> view() { return {data.data(), width, height, width * 4}; }
  ImageView<const float> view() const { return {data.data(), width, height, width * 4}; }
};

Plane noise(int w, int h, float level, float sigma, std::uint64_t seed, ThreadPool& pool) {
  Plane p(w, h, level);
  add_noise(as_const(p.view()), p.view(), {NoiseModel::gaussian, sigma}, {seed, 0, 0}, pool);
  return p;
}

TEST(Quality, MseAndPsnrOfAConstantDifference) {
  ThreadPool pool(2);
  const Plane a(33, 21, 10), b(33, 21, 13);
  EXPECT_DOUBLE_EQ(mse(a.view(), b.view(), pool), 9);
  EXPECT_DOUBLE_EQ(psnr(9, 255), 20 * std::log10(255 / 3.0));
  EXPECT_TRUE(std::isinf(psnr(mse(a.view(), a.view(), pool), 255)));
}

TEST(Quality, SsimOfConstantsAndOfItself) {
  ThreadPool pool(2);
  const Plane a(9, 8, 100), b(9, 8, 120);
  const double c1 = 2.55 * 2.55;
  EXPECT_NEAR(ssim(a.view(), b.view(), 255, pool), (2 * 100 * 120 + c1) / (100 * 100 + 120 * 120 + c1),
              1e-12);
  const auto n = noise(40, 30, 128, 20, 3, pool);
  EXPECT_NEAR(ssim(n.view(), n.view(), 255, pool), 1, 1e-12);
  const Plane narrow(6, 9, 0);
  EXPECT_TRUE(std::isnan(ssim(narrow.view(), narrow.view(), 255, pool)));
}

TEST(Quality, DoesNotDependOnThreads) {
  ThreadPool one(1), four(4);
  const auto a = noise(201, 143, 128, 20, 1, one), b = noise(201, 143, 128, 20, 2, one);
  EXPECT_EQ(mse(a.view(), b.view(), one), mse(a.view(), b.view(), four));
  EXPECT_EQ(ssim(a.view(), b.view(), 255, one), ssim(a.view(), b.view(), 255, four));
}

TEST(Quality, RegionMeasuresOfTwoNormals) {
  ThreadPool pool(2);
  auto p = noise(400, 200, 100, 10, 5, pool);
  for (int y = 0; y < 200; ++y)
    for (int x = 200; x < 400; ++x) p.view().row(y)[x] += 40;
  const Rect left{0, 0, 200, 200}, right{200, 0, 200, 200};
  const auto a = region_stats(std::as_const(p).view(), left),
             b = region_stats(std::as_const(p).view(), right);
  EXPECT_NEAR(cnr(a, b), 40 / std::sqrt(200.0), 0.02);
  EXPECT_NEAR(enl(a), 100, 3);
  // The overlap of two normals four sigma apart is 2 Phi(-2).
  EXPECT_NEAR(gcnr(std::as_const(p).view(), left, right), 1 - std::erfc(std::sqrt(2.0)), 0.01);
}

TEST(Quality, RegionMeasuresOfConstants) {
  const Plane p(8, 8, 7);
  const auto s = region_stats(p.view(), {1, 1, 3, 3});
  EXPECT_EQ(s.variance, 0);
  EXPECT_TRUE(std::isinf(enl(s)));
  EXPECT_EQ(cnr(s, s), 0);
  EXPECT_EQ(gcnr(p.view(), {0, 0, 2, 2}, {4, 4, 2, 2}), 0);
}

}  // namespace
}  // namespace quietframe
