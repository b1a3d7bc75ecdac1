// The data-aware median's blocks, run on the CPU: every window, tile and rank is exact, whatever order the
// work items of a step run in, and stays within the memory it planned.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "filters/median/tiling_block.hpp"

namespace quietframe::median {
namespace {

// Runs items in an order of its own: an item that needs another one of the same step reads what was there
// before.
struct ShuffledTeam {
  std::mt19937 random{7};
  std::vector<int> order;
  int steps = 0;

  template <class F>
  void each(int n, const F& f) {
    order.resize(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (const int i : order) f(i);
    ++steps;
  }
};

struct Image {
  int width, height;
  std::vector<std::uint32_t> keys;

  Image(int w, int h, std::uint32_t top, unsigned seed) : width(w), height(h) {
    std::mt19937 random(seed);
    keys.resize(static_cast<std::size_t>(w * h));
    for (auto& k : keys) k = std::uniform_int_distribution<std::uint32_t>(0, top)(random);
  }
  std::uint32_t at(int x, int y) const { return keys[static_cast<std::size_t>(y * width + x)]; }
};

std::uint32_t ranked(const Image& in, int x, int y, const Window& w) {
  std::vector<std::uint32_t> keys;
  for (int j = 0; j < w.height; ++j)
    for (int i = 0; i < w.width; ++i) keys.push_back(in.at(x + i, y + j));
  std::nth_element(keys.begin(), keys.begin() + w.rank, keys.end());
  return keys[static_cast<std::size_t>(w.rank)];
}

template <class Key, int Leaf>
void expect_exact(const Window& w, const TilingChoice& choice, std::uint32_t top, unsigned seed) {
  SCOPED_TRACE(::testing::Message() << "window " << w.width << 'x' << w.height << " rank " << w.rank
                                    << ", tile " << choice.width << 'x' << choice.height << " leaf "
                                    << choice.leaf << " depth first " << choice.depth_first << ", samples to "
                                    << top);
  const Tiling tiling = make_tiling(w, choice);
  const Image in(w.width + choice.width - 1, w.height + choice.height - 1, top, seed);
  constexpr Key guard = 0xa5;
  std::vector<Key> memory(static_cast<std::size_t>(tiling.keys) + 64, guard);
  ShuffledTeam team;
  TilingBlock<Key, Leaf, ShuffledTeam> block(tiling, memory.data(), team);
  block.read([&](int x, int y) {
    EXPECT_TRUE(x >= 0 && y >= 0 && x < in.width && y < in.height);
    return static_cast<Key>(in.at(x, y));
  });
  block.filter();
  int wrong = 0;
  for (int y = 0; y < choice.height; ++y)
    for (int x = 0; x < choice.width; ++x) wrong += block.result(x, y) != ranked(in, x, y, w);
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(std::all_of(memory.end() - 64, memory.end(), [](Key k) { return k == guard; }));
}

void expect_exact(const Window& w, const TilingChoice& choice, std::uint32_t top, unsigned seed) {
  if (choice.leaf == 2)
    top > 65535 ? expect_exact<std::uint32_t, 2>(w, choice, top, seed)
                : expect_exact<std::uint16_t, 2>(w, choice, top, seed);
  else
    top > 65535 ? expect_exact<std::uint32_t, 4>(w, choice, top, seed)
                : expect_exact<std::uint16_t, 4>(w, choice, top, seed);
}

constexpr std::uint32_t tops[] = {0, 1, 7, 255, 65535, 0xffffffffU};

std::vector<TilingChoice> choices(const Window& w) {
  std::vector<TilingChoice> all;
  for (int width = 4; width <= 32; width *= 2)
    for (int height = width / 2; height <= width; height *= 2)
      for (const int leaf : {2, 4}) {
        const TilingChoice c{width, height, leaf, 0, 128};
        if (can_tile(w, c)) all.push_back(c);
      }
  return all;
}

TEST(MedianTiling, EveryTileOfEveryWindowIsExact) {
  unsigned seed = 0;
  for (int k = 5; k <= max_window; k += k < 31 ? 2 : 6) {
    const Window w{k, k, (k * k - 1) / 2};
    for (auto c : choices(w)) {
      if (c.width * 8 < k) continue;  // too slow to define
      const Tiling t = make_tiling(w, c);
      c.depth_first = static_cast<int>(++seed) % (t.levels + 1);
      expect_exact(w, c, tops[seed % 6], seed);
    }
  }
}

TEST(MedianTiling, RectanglesAndRanksAreExact) {
  std::mt19937 random(1);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int n = 0; n < 60; ++n) {
    Window w{2 * pick(2, n < 50 ? 12 : 37) + 1, 2 * pick(2, n < 50 ? 12 : 37) + 1, 0};
    w.rank = n % 4 == 0 ? 0 : n % 4 == 1 ? w.count() - 1 : pick(0, w.count() - 1);
    const auto all = choices(w);
    auto c = all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))];
    c.depth_first = pick(0, make_tiling(w, c).levels);
    expect_exact(w, c, tops[n % 6], static_cast<unsigned>(n));
  }
}

TEST(MedianTiling, DividesExactly) {
  for (int d = 1; d < 4000; d += d < 100 ? 1 : 77)
    for (int n = 0; n < 65536; n += 13) ASSERT_EQ(Divider(d)(n), n / d) << n << " / " << d;
}

}  // namespace
}  // namespace quietframe::median
