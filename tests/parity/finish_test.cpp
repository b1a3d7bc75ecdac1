// Region, mask and previews on the backend under test: every format, every sample against a rule written out
// here.
#include "finish.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include "parity/backend.hpp"

namespace quietframe {
namespace {

struct Picture {
  std::vector<std::byte> data;
  Frame frame;
  explicit Picture(const FrameFormat& format) : data(pack_frame(format, nullptr, nullptr)) {
    pack_frame(format, data.data(), &frame);
  }
};

Picture noisy(const FrameFormat& format) {
  Picture p(format);
  std::uint32_t state = 7;
  for (auto& b : p.data) {
    state = state * 1664525U + 1013904223U;
    b = static_cast<std::byte>(state >> 24);
  }
  if (format_info(format.format).type == SampleType::f32) {  // any bytes may be a NaN
    for (std::size_t i = 0; i < p.data.size() / 4; ++i) {
      const auto level = static_cast<float>(std::to_integer<int>(p.data[4 * i]));
      std::memcpy(p.data.data() + 4 * i, &level, 4);
    }
  }
  return p;
}

FrameSettings settings() { return default_settings(*find_filter("gaussian")); }

Picture filtered(const Picture& in, const FrameSettings& s) {
  Picture out(in.frame.format);
  out.data = in.data;
  pack_frame(in.frame.format, out.data.data(), &out.frame);
  const auto processor = select_backend(test::request).processor;
  processor->configure(in.frame.format, 2);
  processor->wait(processor->submit(in.frame, out.frame, s));
  return out;
}

int bytes_of(const GroupView& v) { return v.type == SampleType::u8 ? 1 : v.type == SampleType::f32 ? 4 : 2; }

// Calls check(group, channel, x, y, bytes of `expected`, bytes of `got`) for every sample.
using Sample = std::span<const std::byte>;
void for_each_sample(const Picture& a, const Picture& b,
                     const std::function<void(int, int, int, int, Sample, Sample)>& check) {
  for (int g = 0; g < format_info(a.frame.format.format).groups; ++g) {
    const auto va = group_view(a.frame, g), vb = group_view(b.frame, g);
    for (int c = 0; c < va.channels; ++c)
      for (int y = 0; y < va.height; ++y)
        for (int x = 0; x < va.width; ++x) {
          const auto at = [&](const GroupView& v) {
            return Sample(v.channel[c] + y * v.stride[c] + std::ptrdiff_t{x} * v.step,
                          static_cast<std::size_t>(bytes_of(v)));
          };
          check(g, c, x, y, at(va), at(vb));
        }
  }
}

bool same(Sample a, Sample b) { return std::memcmp(a.data(), b.data(), a.size()) == 0; }

using Inside = std::function<bool(int, int)>;

// Samples of which every pixel is inside are the filter's, all others the input's.
void expect_inside(const FrameFormat& format, const FrameSettings& limited, const Inside& inside) {
  const auto in = noisy(format);
  auto whole = settings();
  const auto all = filtered(in, whole), got = filtered(in, limited);
  const std::string name = format_info(format.format).name;
  int kept = 0, changed = 0;
  for (int pass = 0; pass < 2; ++pass)
    for_each_sample(
        pass == 0 ? all : in, got, [&](int g, int c, int x, int y, Sample expected, Sample sample) {
          const auto& group = format_info(format.format).group[static_cast<std::size_t>(g)];
          bool filters = true;
          for (int py = y << group.sub_y; py < std::min((y + 1) << group.sub_y, format.height); ++py)
            for (int px = x << group.sub_x; px < std::min((x + 1) << group.sub_x, format.width); ++px)
              filters = filters && inside(px, py);
          if (filters != (pass == 0)) return;
          ++(filters ? changed : kept);
          ASSERT_TRUE(same(expected, sample))
              << name << " group " << g << " channel " << c << " at " << x << "," << y
              << (filters ? " is not filtered" : " is not the input's");
        });
  EXPECT_GT(kept, 0) << name;
  EXPECT_GT(changed, 0) << name;
}

class Finishing : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      select_backend(test::request);
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

class EveryFormat : public Finishing, public ::testing::WithParamInterface<FormatInfo> {
 protected:
  FrameFormat format(int width = 37, int height = 23) const { return {GetParam().format, width, height, 0}; }
};

TEST_P(EveryFormat, OutsideOfARectangleIsBitExact) {
  auto s = settings();
  s.region.limited = true;
  s.region.count = 1;
  s.region.rects[0] = {5, 3, 11, 9};
  expect_inside(format(), s, [](int x, int y) { return x >= 5 && x < 16 && y >= 3 && y < 12; });
}

// Two rectangles that touch inside of a chroma sample: it is covered by both together.
TEST_P(EveryFormat, RectanglesAreJoined) {
  auto s = settings();
  s.region.limited = true;
  s.region.count = 2;
  s.region.rects[0] = {4, 4, 5, 8};
  s.region.rects[1] = {9, 4, 1000, 8};
  expect_inside(format(), s, [](int x, int y) { return x >= 4 && y >= 4 && y < 12; });
}

TEST_P(EveryFormat, OutsideOfAMaskIsBitExact) {
  auto s = settings();
  auto mask = std::make_shared<Mask>(Mask{37, 23, std::vector<std::uint8_t>(37 * 23)});
  auto inside = [](int x, int y) { return (x / 5 + y / 3) % 2 == 0; };
  for (int y = 0; y < 23; ++y)
    for (int x = 0; x < 37; ++x) mask->pixels[static_cast<std::size_t>(y * 37 + x)] = inside(x, y) ? 255 : 0;
  s.mask = mask;
  expect_inside(format(), s, inside);
}

TEST_P(EveryFormat, RegionAndMaskBothCount) {
  auto s = settings();
  auto mask = std::make_shared<Mask>(Mask{37, 23, std::vector<std::uint8_t>(37 * 23)});
  for (std::size_t i = 0; i < mask->pixels.size(); ++i) mask->pixels[i] = i % 37 < 20 ? 1 : 0;
  s.mask = mask;
  s.region.limited = true;
  s.region.count = 1;
  s.region.rects[0] = {8, 8, 29, 15};
  expect_inside(format(), s, [](int x, int y) { return x >= 8 && x < 20 && y >= 8; });
}

TEST_P(EveryFormat, TheSplitPreviewKeepsTheLeftHalf) {
  auto s = settings();
  s.common.preview = Preview::split;
  expect_inside(format(), s, [](int x, int) { return x >= 18; });
}

TEST_P(EveryFormat, ARegionOfNothingKeepsEveryByte) {
  const auto in = noisy(format());
  auto s = settings();
  s.region.limited = true;
  EXPECT_EQ(filtered(in, s).data, in.data);
}

int code_of(SampleType type, Sample sample, int shift) {
  int code = 0;
  with_sample_type(type, [&]<SampleType S>() {
    if constexpr (S != SampleType::f32) code = load_code<S>(sample.data(), shift);
  });
  return code;
}

class EveryFormatWithCodes : public EveryFormat {};  // floats have none

TEST_P(EveryFormatWithCodes, DifferenceAndNoiseAreMadeOfTheCodes) {
  const auto in = noisy(format());
  const auto plain = filtered(in, settings());
  for (const auto preview : {Preview::difference, Preview::noise}) {
    auto s = settings();
    s.common.preview = preview;
    const auto got = filtered(in, s);
    std::vector<int> removed;
    const auto view = group_view(in.frame, 0);
    const int middle = (view.max_code + 1) / 2;
    auto code = [&](Sample sample) { return code_of(view.type, sample, view.shift); };
    for_each_sample(in, plain, [&](int, int, int, int, Sample before, Sample after) {
      removed.push_back(code(before) - code(after));
    });
    std::size_t i = 0;
    for_each_sample(in, got, [&](int g, int, int x, int y, Sample, Sample shown) {
      const int r = removed[i++];
      int expected = middle + r;
      if (preview == Preview::difference) expected = g == 1 ? middle : 8 * std::abs(r);
      ASSERT_EQ(code(shown), std::clamp(expected, 0, view.max_code))
          << GetParam().name << " group " << g << " at " << x << "," << y;
    });
  }
}

// Nothing is filtered outside of the region, so nothing was taken away there.
TEST_P(EveryFormatWithCodes, TheNoisePreviewIsGreyOutsideOfTheRegion) {
  const auto in = noisy(format());
  auto s = settings();
  s.common.preview = Preview::noise;
  s.region.limited = true;
  const auto got = filtered(in, s);
  const auto view = group_view(in.frame, 0);
  for_each_sample(in, got, [&](int, int, int x, int y, Sample, Sample shown) {
    ASSERT_EQ(code_of(view.type, shown, view.shift), (view.max_code + 1) / 2) << x << "," << y;
  });
}

std::string name_of_format(const testing::TestParamInfo<FormatInfo>& p) { return p.param.name; }

std::vector<FormatInfo> formats_with_codes() {
  std::vector<FormatInfo> list(all_formats().begin(), all_formats().end());
  std::erase_if(list, [](const FormatInfo& f) { return f.type == SampleType::f32; });
  return list;
}

INSTANTIATE_TEST_SUITE_P(Finish, EveryFormat, ::testing::ValuesIn(all_formats().begin(), all_formats().end()),
                         name_of_format);
INSTANTIATE_TEST_SUITE_P(Finish, EveryFormatWithCodes, ::testing::ValuesIn(formats_with_codes()),
                         name_of_format);

TEST_F(Finishing, PreviewsWithoutAFilterShowThatNothingChanged) {
  const auto in = noisy({PixelFormat::gray8, 16, 16, 0});
  FrameSettings s;
  s.common.preview = Preview::difference;
  EXPECT_FALSE(changes_nothing(s));
  const auto out = filtered(in, s);
  EXPECT_EQ(out.data, std::vector<std::byte>(256));
}

TEST_F(Finishing, AMaskOfAnotherSizeIsAnErrorThatNamesBoth) {
  const auto in = noisy({PixelFormat::gray8, 16, 16, 0});
  auto s = settings();
  s.mask = std::make_shared<Mask>(Mask{8, 4, std::vector<std::uint8_t>(32)});
  try {
    filtered(in, s);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("8x4"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("16x16"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace quietframe
