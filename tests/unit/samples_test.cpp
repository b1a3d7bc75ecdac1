// Rows converted in vectors are what sample.hpp says of each sample, in every format, at every width.
#include "simd/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "sample.hpp"

namespace quietframe {
namespace {

// One row of a frame, and a view of each of its groups.
class Row {
 public:
  Row(PixelFormat pixels, int width, std::byte value) {
    const FrameFormat format{pixels, width, 1, 0};
    bytes_.assign(pack_frame(format, nullptr, nullptr), value);
    pack_frame(format, bytes_.data(), &frame_);
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  GroupView group(int g) const { return group_view(frame_, g); }

 private:
  std::vector<std::byte> bytes_;
  Frame frame_;
};

constexpr int widths[] = {1, 2, 7, 15, 16, 17, 63, 255, 256, 257, 600};

TEST(Samples, LoadedAsDefined) {
  std::mt19937 random(1);
  for (const auto& info : all_formats())
    for (const int width : widths) {
      Row row(info.format, width, std::byte{0});
      for (auto& b : row.bytes()) b = static_cast<std::byte>(info.type == SampleType::f32 ? 66 : random());
      for (int g = 0; g < info.groups; ++g) {
        const auto v = row.group(g);
        for (int c = 0; c < v.channels; ++c) {
          std::vector<float> levels(static_cast<std::size_t>(v.width));
          simd::load_levels(v, v.channel[c], v.width, levels.data());
          for (int x = 0; x < v.width; ++x) {
            const auto* p = v.channel[c] + std::ptrdiff_t{x} * v.step;
            const float wanted = with_sample_type(
                v.type, [&]<SampleType S>() { return load_level<S>(p, v.shift, v.levels_per_code); });
            ASSERT_EQ(levels[static_cast<std::size_t>(x)], wanted)
                << info.name << " width " << width << " at " << x;
          }
        }
      }
    }
}

TEST(Samples, StoredAsDefined) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-20.f, 275.f);
  auto level = [&](int i) {
    switch (i % 9) {
      case 0:
        return std::numeric_limits<float>::quiet_NaN();
      case 1:
        return std::numeric_limits<float>::infinity();
      case 2:
        return -std::numeric_limits<float>::infinity();
      case 3:
        return std::floor(uniform(random)) + 0.5f;
      default:
        return uniform(random);
    }
  };
  for (const auto& info : all_formats())
    for (const int width : widths) {
      Row fast(info.format, width, std::byte{0x5a}), defined(info.format, width, std::byte{0x5a});
      for (int g = 0; g < info.groups; ++g) {
        const auto v = fast.group(g), w = defined.group(g);
        for (int c = 0; c < v.channels; ++c) {
          std::vector<float> levels;
          for (int x = 0; x < v.width; ++x) levels.push_back(level(x));
          simd::store_levels(v, levels.data(), v.width, v.channel[c]);
          for (int x = 0; x < v.width; ++x)
            with_sample_type(v.type, [&]<SampleType S>() {
              store_level<S>(w.channel[c] + std::ptrdiff_t{x} * w.step, w.shift, 1.f / w.levels_per_code,
                             w.max_code, levels[static_cast<std::size_t>(x)]);
            });
        }
      }
      ASSERT_EQ(fast.bytes(), defined.bytes()) << info.name << " width " << width;
    }
}

}  // namespace
}  // namespace quietframe
