// The CPU processor keeps constants constant in every format, passes alpha through, and is the same at any
// depth.
#include "processor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace quietframe {
namespace {

TEST(CpuProcessor, ConstantFramesStayConstantInEveryFormat) {
  auto processor = make_cpu_processor(2);
  const auto settings = default_settings(*find_filter("gaussian"));
  for (const auto& info : all_formats()) {
    if (info.type == SampleType::f32) continue;
    const FrameFormat format{info.format, 38, 19, 0};
    // A byte pattern that is a legal sample of the format: within 10 bits, and no bits below P010's value.
    const std::byte fill{info.format == PixelFormat::i420_10le ? std::uint8_t{0x01} : std::uint8_t{0x40}};
    const auto bytes = pack_frame(format, nullptr, nullptr);
    std::vector<std::byte> in(bytes, fill), out(bytes, std::byte{0});
    Frame a, b;
    pack_frame(format, in.data(), &a);
    pack_frame(format, out.data(), &b);
    processor->configure(format, 1);
    processor->wait(processor->submit(a, b, settings));
    EXPECT_TRUE(in == out) << info.name;
  }
}

TEST(CpuProcessor, DepthChangesNothing) {
  const FrameFormat format{PixelFormat::rgba, 65, 33, 0};
  const auto bytes = pack_frame(format, nullptr, nullptr);
  std::mt19937 random(1);
  std::vector<std::vector<std::byte>> in(8, std::vector<std::byte>(bytes));
  for (auto& f : in) std::ranges::generate(f, [&] { return static_cast<std::byte>(random()); });
  const auto settings = default_settings(*find_filter("gaussian"));
  auto run = [&](int slots) {
    auto processor = make_cpu_processor(3);
    processor->configure(format, slots);
    std::vector<std::vector<std::byte>> out(in.size(), std::vector<std::byte>(bytes));
    for (std::size_t i = 0; i < in.size(); i += static_cast<std::size_t>(slots)) {
      std::vector<std::uint64_t> frames;
      for (std::size_t k = i; k < i + static_cast<std::size_t>(slots); ++k) {
        Frame a, b;
        pack_frame(format, in[k].data(), &a);
        pack_frame(format, out[k].data(), &b);
        frames.push_back(processor->submit(a, b, settings));
      }
      for (auto f : frames) processor->wait(f);
    }
    return out;
  };
  const auto one = run(1), eight = run(8);
  EXPECT_EQ(one, eight);
  for (std::size_t f = 0; f < in.size(); ++f)
    for (std::size_t i = 3; i < bytes; i += 4) ASSERT_EQ(one[f][i], in[f][i]);  // alpha
}

// The last pair of a row has a luma sample that belongs to no pixel; nothing else in the output is the
// input's.
TEST(CpuProcessor, PackedOddWidthsKeepTheOrphanSample) {
  for (const auto pixel_format : {PixelFormat::yuy2, PixelFormat::uyvy})
    for (const int width : {1, 7, 131})
      for (const char* filter : {"gaussian", ""}) {
        const FrameFormat format{pixel_format, width, 70, 0};
        SCOPED_TRACE(::testing::Message() << format_info(pixel_format).name << " " << width << " " << filter);
        const auto bytes = pack_frame(format, nullptr, nullptr);
        std::mt19937 random(3);
        std::vector<std::byte> in(bytes), out(bytes, std::byte{0xee}), again(bytes, std::byte{0x11});
        std::ranges::generate(in, [&] { return static_cast<std::byte>(random()); });
        Frame a;
        pack_frame(format, in.data(), &a);
        const auto settings = *filter ? default_settings(*find_filter(filter)) : FrameSettings{};
        auto processor = make_cpu_processor(2);
        processor->configure(format, 1);
        for (auto* to : {&out, &again}) {
          Frame b;
          pack_frame(format, to->data(), &b);
          processor->wait(processor->submit(a, b, settings));
        }
        EXPECT_TRUE(out == again) << "a byte of the output was not written";
        const auto row = bytes / 70, orphan = row - (pixel_format == PixelFormat::yuy2 ? 2 : 1);
        for (std::size_t y = 0; y < 70; ++y) ASSERT_EQ(out[y * row + orphan], in[y * row + orphan]) << y;
        if (!*filter) {
          EXPECT_EQ(out, in);
        }
      }
}

}  // namespace
}  // namespace quietframe
