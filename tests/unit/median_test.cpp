// The fast CPU median equals its definition bit for bit: every odd window to 75, codes of 8 and 16 bits and
// floats with infinities and NaNs, any rank, inputs that counting methods find hard.
#include "filters/median/params.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

#include "thread_pool.hpp"

namespace quietframe::median {
namespace {

enum class Input { random, two_valued, ramp, few, extremes };
constexpr Input inputs[] = {Input::random, Input::two_valued, Input::ramp, Input::few, Input::extremes};

class MedianTest : public testing::Test {
 protected:
  // A plane of whole codes; max_code 0: of floats, some of them not finite.
  ImageView<float> plane(int width, int height, Input what, int max_code, unsigned seed) {
    const auto p = in_storage_.plane(0, width, height);
    std::mt19937 random(seed);
    const int top = max_code > 0 ? max_code : 4000;
    std::uniform_int_distribution<int> any(0, top), small(0, 3);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        float v = static_cast<float>(any(random));
        if (what == Input::two_valued) v = small(random) < 2 ? 0.f : static_cast<float>(top);
        if (what == Input::ramp) v = static_cast<float>((x * 7 + y * 1031) % (top + 1));
        if (what == Input::few) v = static_cast<float>(top / 2 + small(random));
        if (what == Input::extremes) v = small(random) == 0 ? v : static_cast<float>(x % 2 == 0 ? 0 : top);
        if (max_code == 0) v = odd_float(v - 2000.f, any(random));
        p.row(y)[x] = v;
      }
    return p;
  }

  static float odd_float(float v, int chance) {
    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN();
    if (chance % 50 == 0) return nan;
    if (chance % 50 == 1) return -nan;
    if (chance % 50 == 2) return infinity;
    if (chance % 50 == 3) return -infinity;
    if (chance % 50 == 4) return -0.f;
    return v * 0.37f;
  }

  void expect_equal(const ImageView<float>& in, int max_code, const Window& window) {
    const auto a = out_storage_.plane(0, in.width, in.height), b = out_storage_.plane(1, in.width, in.height);
    CpuJob defined{{1, {in}}, {1, {a}}, {}, {}, pool_, scratch_, {max_code, 1.f}};
    run_window_cpu(defined, window);
    CpuJob fast{{1, {in}}, {1, {b}}, {}, {}, pool_, scratch_, {max_code, 1.f}};
    run_window_simd(fast, window);
    int wrong = 0;
    for (int y = 0; y < in.height; ++y)
      for (int x = 0; x < in.width; ++x)
        // A NaN's own bits do not count, its place does.
        if (!(std::isnan(a.row(y)[x]) && std::isnan(b.row(y)[x])) &&
            std::memcmp(a.row(y) + x, b.row(y) + x, sizeof(float)) != 0)
          ++wrong;
    EXPECT_EQ(wrong, 0) << "window " << window.width << 'x' << window.height << " rank " << window.rank
                        << " of codes to " << max_code << ", " << in.width << 'x' << in.height;
  }

  ThreadPool pool_{2};
  Scratch scratch_, in_storage_, out_storage_;
};

TEST_F(MedianTest, EveryOddWindowAndTypeIsExact) {
  for (int k = 1; k <= max_window; k += 2)
    for (const int max_code : {255, 65535, 0}) {
      const auto what = inputs[(k / 2 + max_code) % 5];
      expect_equal(plane(53, 37, what, max_code, static_cast<unsigned>(k)), max_code, {k, k, k * k / 2});
    }
}

TEST_F(MedianTest, EveryInputIsExact) {
  for (const auto what : inputs)
    for (const int max_code : {255, 1023, 65535, 0})
      for (const int k : {3, 5, 7, 9, 15, 31})
        expect_equal(plane(140, 70, what, max_code, 5), max_code, {k, k, k * k / 2});
}

TEST_F(MedianTest, RectanglesAndRanksAreExact) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    auto odd = [&] { return 2 * std::uniform_int_distribution<int>(0, i < 50 ? 9 : 37)(random) + 1; };
    Window w{odd(), odd(), 0};
    w.rank = std::uniform_int_distribution<int>(0, w.count() - 1)(random);
    const int max_code = i % 3 == 0 ? 255 : i % 3 == 1 ? 4095 : 0;
    const int width = std::uniform_int_distribution<int>(1, 300)(random), height = 1 + i % 40;
    expect_equal(plane(width, height, inputs[i % 5], max_code, static_cast<unsigned>(i)), max_code, w);
  }
}

TEST_F(MedianTest, TilesAreInvisible) {
  for (const int max_code : {255, 65535, 0})
    for (const int k : {3, 11})
      expect_equal(plane(517, 263, Input::random, max_code, 9), max_code, {k, k, k * k / 2});
}

TEST_F(MedianTest, BadWindowsAreRefused) {
  const auto in = plane(8, 8, Input::random, 255, 1);
  for (const Window w :
       {Window{2, 3, 0}, Window{3, 0, 0}, Window{77, 3, 0}, Window{3, 3, 9}, Window{3, 3, -1}}) {
    CpuJob job{{1, {in}}, {1, {out_storage_.plane(0, 8, 8)}}, {}, {}, pool_, scratch_, {255, 1.f}};
    EXPECT_THROW(run_window_cpu(job, w), std::invalid_argument);
    EXPECT_THROW(run_window_simd(job, w), std::invalid_argument);
  }
}

TEST(MedianParams, RankOfTheWindow) {
  EXPECT_EQ(window({1, 50.f}).rank, 4);
  EXPECT_EQ(window({1, 0.f}).rank, 0);
  EXPECT_EQ(window({1, 100.f}).rank, 8);
  EXPECT_EQ(window({37, 50.f}).rank, 2812);
}

}  // namespace
}  // namespace quietframe::median
