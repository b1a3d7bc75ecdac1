// Phantoms render any size, the same on any number of threads, and their feed is their clean version plus
// noise.
#include "phantom/phantom.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "thread_pool.hpp"

namespace quietframe {
namespace {

constexpr PhantomKind kinds[] = {PhantomKind::target, PhantomKind::ultrasound, PhantomKind::sector,
                                 PhantomKind::brain};

struct Picture {
  Scratch storage;
  PlanarGroup group;
  Picture(int width, int height, int channels) {
    group.channels = channels;
    for (int c = 0; c < channels; ++c) {
      group.channel[static_cast<std::size_t>(c)] = storage.plane(static_cast<std::size_t>(c), width, height);
      for (int y = 0; y < height; ++y)
        std::fill_n(group.channel[static_cast<std::size_t>(c)].row(y), width, NAN);
    }
  }
};

std::vector<float> flatten(const PlanarGroup& g) {
  std::vector<float> all;
  for (int c = 0; c < g.channels; ++c)
    for (int y = 0; y < g.height(); ++y) {
      const float* row = g.channel[static_cast<std::size_t>(c)].row(y);
      all.insert(all.end(), row, row + g.width());
    }
  return all;
}

struct Rendered {
  std::vector<float> clean, noisy;
};

Rendered render(PhantomKind kind, int width, int height, int t, ThreadPool& pool, std::uint64_t seed = 1) {
  const auto phantom = make_phantom({kind, 15.f}, width, height, seed);
  Picture clean(width, height, phantom->channels()), noisy(width, height, phantom->channels());
  phantom->render(t, &clean.group, &noisy.group, pool);
  return {flatten(clean.group), flatten(noisy.group)};
}

TEST(Phantom, EverySampleIsWrittenAtAnySize) {
  ThreadPool pool(2);
  for (const auto kind : kinds)
    for (const auto& [w, h] : {std::pair{1, 1}, {1, 40}, {40, 1}, {37, 53}, {160, 120}}) {
      const auto r = render(kind, w, h, 3, pool);
      for (const float v : r.clean)
        ASSERT_TRUE(v >= 0 && v <= 255) << static_cast<int>(kind) << ' ' << w << 'x' << h;
      for (const float v : r.noisy) ASSERT_TRUE(std::isfinite(v));
    }
}

TEST(Phantom, FramesArePureFunctionsOfTheirNumber) {
  ThreadPool one(1), four(4);
  for (const auto kind : kinds) {
    const auto phantom = make_phantom({kind, 15.f}, 96, 80, 1);
    Picture a(96, 80, phantom->channels()), b(96, 80, phantom->channels());
    phantom->render(7, &a.group, &b.group, four);
    phantom->render(3, &a.group, &b.group, four);
    const auto fresh = render(kind, 96, 80, 3, one);
    EXPECT_EQ(flatten(a.group), fresh.clean) << static_cast<int>(kind);
    EXPECT_EQ(flatten(b.group), fresh.noisy) << static_cast<int>(kind);
    EXPECT_NE(render(kind, 96, 80, 3, one, 2).noisy, fresh.noisy);
    EXPECT_NE(render(kind, 96, 80, 4, one).noisy, fresh.noisy);
  }
}

// The mean of many speckle realisations approaches the clean version: it is the exact mean, not a sketch of
// it.
TEST(Phantom, CleanUltrasoundIsTheMeanOverSpeckle) {
  ThreadPool pool(2);
  constexpr int size = 96, seeds = 64;
  std::vector<double> mean(size * size, 0);
  Rendered r;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    r = render(PhantomKind::ultrasound, size, size, 0, pool, seed);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(r.noisy[i]) / seeds;
  }
  double bias = 0, squares = 0;
  int count = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double clean = static_cast<double>(r.clean[i]);
    if (clean < 60 || clean > 225) continue;  // where clipping to 0..255 does not reach
    bias += mean[i] - clean;
    squares += (mean[i] - clean) * (mean[i] - clean);
    ++count;
  }
  ASSERT_GT(count, size * size / 2);
  // Log-compressed speckle has 5.57 dB of standard deviation: 23.7 levels in 60 dB, 3 after 64 averages.
  EXPECT_NEAR(bias / count, 0, 1);
  EXPECT_NEAR(std::sqrt(squares / count), 23.7 / std::sqrt(seeds), 0.5);
}

TEST(Phantom, SectorIsBlackOutside) {
  ThreadPool pool(2);
  const auto r = render(PhantomKind::sector, 120, 100, 0, pool);
  for (const std::size_t corner : {std::size_t{0}, std::size_t{119}, std::size_t{99 * 120}}) {
    EXPECT_EQ(r.clean[corner], 0);
    EXPECT_EQ(r.noisy[corner], 0);
  }
}

}  // namespace
}  // namespace quietframe
