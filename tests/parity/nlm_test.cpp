// What non-local means promises beside parity: both implementations agree, and past frames count until a
// reset.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "processor.hpp"
#include "support/fill.hpp"
#include "support/settings_text.hpp"

namespace quietframe {
namespace {

using namespace test;

constexpr int frames = 5;

// Output of each of a few frames, all in flight at once; frame `reset` starts anew.
std::vector<std::unique_ptr<GuardedFrame>> filtered(const std::string& parameters, PixelFormat pixels,
                                                    int reset, int slots) {
  const FrameFormat format{pixels, 143, 37, 0};
  const auto processor = make_cpu_processor(3);
  processor->configure(format, slots);
  std::vector<std::unique_ptr<GuardedFrame>> in, out;
  int waited = 0;
  for (int i = 0; i < frames; ++i) {
    in.push_back(std::make_unique<GuardedFrame>(format, 0, std::byte{0}));
    out.push_back(std::make_unique<GuardedFrame>(format, 0, std::byte{0}));
    fill(in.back()->frame(), Fill::scene, static_cast<unsigned>(i));
    auto settings = settings_from("nlm", parameters);
    settings.reset_history = i == 0 || i == reset;
    if (i >= slots) processor->wait(static_cast<std::uint64_t>(waited++));
    processor->submit(in.back()->frame(), out.back()->frame(), settings);
  }
  while (waited < frames) processor->wait(static_cast<std::uint64_t>(waited++));
  return out;
}

TEST(Nlm, DirectAndBoxAgree) {
  for (const auto pixels : {PixelFormat::gray_f32, PixelFormat::rgb_f32})
    for (const int patch : {0, 1, 2, 3, 4, 5, 6}) {
      const auto radii = " search-radius=4 h=14 sigma=3 patch-radius=" + std::to_string(patch);
      const auto direct = filtered("implementation=direct" + radii, pixels, 0, 1);
      const auto box = filtered("implementation=box" + radii, pixels, 0, 1);
      EXPECT_LE(largest_difference(direct[0]->frame(), box[0]->frame()).levels, 1e-4) << radii;
    }
}

TEST(Nlm, PastFramesCountUntilAReset) {
  const std::string spatial = "h=20 search-radius=3", temporal = spatial + " temporal-radius=2";
  for (const int slots : {1, 4}) {
    const auto without = filtered(spatial, PixelFormat::gray_f32, 3, slots);
    const auto with = filtered(temporal, PixelFormat::gray_f32, 3, slots);
    for (const int first : {0, 3})
      EXPECT_TRUE(same_bytes(without[first]->frame(), with[first]->frame())) << first;
    for (const int later : {1, 2, 4})
      EXPECT_FALSE(same_bytes(without[later]->frame(), with[later]->frame())) << later;
  }
}

TEST(Nlm, FramesInFlightDoNotChangeWhatIsLookedBackAt) {
  const std::string temporal = "h=20 search-radius=2 temporal-radius=3";
  const auto one = filtered(temporal, PixelFormat::rgb_f32, 0, 1),
             many = filtered(temporal, PixelFormat::rgb_f32, 0, 4);
  for (int i = 0; i < frames; ++i) EXPECT_TRUE(same_bytes(one[i]->frame(), many[i]->frame())) << i;
}

// Filters the part of `from` that begins at (x, y).
std::unique_ptr<GuardedFrame> filtered_crop(const Frame& from, int x, int y, const FrameFormat& format,
                                            const std::string& parameters) {
  auto in = std::make_unique<GuardedFrame>(format, 0, std::byte{0}),
       out = std::make_unique<GuardedFrame>(format, 0, std::byte{0});
  const int step = format_info(format.format).group[0].step;
  for (int row = 0; row < format.height; ++row)
    std::memcpy(in->frame().plane[0] + row * in->frame().stride[0],
                from.plane[0] + (y + row) * from.stride[0] + std::ptrdiff_t{x} * step,
                static_cast<std::size_t>(format.width) * static_cast<std::size_t>(step));
  const auto processor = make_cpu_processor(2);
  processor->configure(format, 1);
  processor->wait(processor->submit(in->frame(), out->frame(), settings_from("nlm", parameters)));
  return out;
}

TEST(Nlm, TilesAreInvisible) {
  constexpr int dx = 37, dy = 11, width = 560, height = 80;
  for (const auto pixels : {PixelFormat::gray_f32, PixelFormat::rgb_f32})
    for (const std::string how :
         {"patch-radius=2 search-radius=7", "patch-radius=1 search-radius=3 centre-weight=max",
          "patch-radius=3 search-radius=2 sigma=4 implementation=direct"}) {
      GuardedFrame all({pixels, width + dx, height + dy, 0}, 0, std::byte{0});
      fill(all.frame(), Fill::scene, 5);
      const auto a = filtered_crop(all.frame(), 0, 0, {pixels, width, height, 0}, how + " h=14"),
                 b = filtered_crop(all.frame(), dx, dy, {pixels, width, height, 0}, how + " h=14");
      constexpr int reach = 9;  // patch and search radius: what a border may change
      const int step = format_info(pixels).group[0].step;
      int different = 0;
      for (int y = dy + reach; y < height - reach; ++y)
        for (int x = dx + reach; x < width - reach; ++x)
          different += std::memcmp(a->frame().plane[0] + y * a->frame().stride[0] + x * step,
                                   b->frame().plane[0] + (y - dy) * b->frame().stride[0] + (x - dx) * step,
                                   static_cast<std::size_t>(step)) != 0;
      EXPECT_EQ(different, 0) << how;
    }
}

}  // namespace
}  // namespace quietframe
