// What non-local means promises beside parity: both implementations agree, and past frames count until a
// reset.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace quietframe
