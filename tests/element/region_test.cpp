// Region of interest, mask and preview of the element: by property, by meta, by file, while frames are in
// flight.
#include <png.h>

#include <cstdio>
#include <functional>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

constexpr int width = 64, height = 48;

// Frame 0 through `h`.
std::vector<std::uint8_t> out_of(Harness& h, GstBuffer* frame) {
  EXPECT_EQ(h.push(frame), GST_FLOW_OK) << h.error();
  const auto out = h.pull();
  return out ? bytes(out) : std::vector<std::uint8_t>();
}

std::vector<std::uint8_t> whole_frame() {
  Harness h("filter=gaussian", gray_caps);
  return out_of(h, h.frame(0));
}

using Inside = std::function<bool(int, int)>;

void expect_inside(const std::vector<std::uint8_t>& got, const Inside& inside) {
  Harness h("", gray_caps);
  const Buffer input(h.frame(0));
  const auto before = bytes(input), after = whole_frame();
  ASSERT_EQ(got.size(), before.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto i = static_cast<std::size_t>(y * width + x);
      ASSERT_EQ(got[i], inside(x, y) ? after[i] : before[i]) << x << "," << y;
    }
}

// A grey PNG file that is removed again.
class PngFile {
 public:
  PngFile(int w, int h, const Inside& white) {
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) pixels.push_back(white(x, y) ? 255 : 0);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(w);
    image.height = static_cast<png_uint_32>(h);
    image.format = PNG_FORMAT_GRAY;
    png_image_write_to_file(&image, name.c_str(), 0, pixels.data(), 0, nullptr);
  }
  ~PngFile() { std::remove(name.c_str()); }
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;

  const std::string name =
      std::string(g_get_tmp_dir()) + "/quietframe-mask-" + std::to_string(g_random_int()) + ".png";
};

TEST(Region, OutsideOfTheRoiIsBitExact) {
  Harness h("filter=gaussian roi=<10,6,20,30>", gray_caps);
  expect_inside(out_of(h, h.frame(0)), [](int x, int y) { return x >= 10 && x < 30 && y >= 6 && y < 36; });
}

TEST(Region, ASideOfNoughtReachesToTheEdge) {
  Harness h("filter=gaussian roi=<10,6,0,0>", gray_caps);
  expect_inside(out_of(h, h.frame(0)), [](int x, int y) { return x >= 10 && y >= 6; });
}

TEST(Region, ARoiBeyondTheFrameFiltersNothing) {
  Harness h("filter=gaussian roi=<1000,1000,20,20>", gray_caps);
  expect_inside(out_of(h, h.frame(0)), [](int, int) { return false; });
}

TEST(Region, TheRoiIsReadBack) {
  Harness h("roi=<1,2,3,4>", gray_caps);
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(h.element()), "roi", &value);
  auto* text = gst_value_serialize(&value);
  EXPECT_STREQ(text, "< (int)1, (int)2, (int)3, (int)4 >");
  g_free(text);
  g_value_unset(&value);
}

TEST(Region, TheRoiChangesFrameByFrameWhileOthersAreInFlight) {
  Harness h("filter=gaussian async-depth=8", gray_caps);
  for (int i = 0; i < 20; ++i) {
    h.set("roi", ("<0,0," + std::to_string(64 - i) + ",0>").c_str());
    auto* frame = h.frame(0);
    GST_BUFFER_PTS(frame) = static_cast<GstClockTime>(i) * frame_time;
    ASSERT_EQ(h.push(frame), GST_FLOW_OK);
  }
  h.eos();
  for (int i = 0; i < 20; ++i) expect_inside(bytes(h.pull()), [&](int x, int) { return x < 64 - i; });
}

TEST(Region, MetasLimitTheFrameTheyAreOn) {
  Harness h("filter=gaussian roi-from-meta=true", gray_caps);
  auto* frame = h.frame(0);
  gst_buffer_add_video_region_of_interest_meta(frame, "face", 4, 4, 10, 10);
  gst_buffer_add_video_region_of_interest_meta(frame, "hand", 40, 8, 1000, 10);
  expect_inside(out_of(h, frame), [](int x, int y) {
    return (x >= 4 && x < 14 && y >= 4 && y < 14) || (x >= 40 && y >= 8 && y < 18);
  });
  expect_inside(out_of(h, h.frame(0)), [](int, int) { return false; });
}

TEST(Region, MetasAndTheRoiBothCount) {
  Harness h("filter=gaussian roi-from-meta=true roi=<8,0,0,0>", gray_caps);
  auto* frame = h.frame(0);
  gst_buffer_add_video_region_of_interest_meta(frame, "face", 4, 4, 10, 10);
  expect_inside(out_of(h, frame), [](int x, int y) { return x >= 8 && x < 14 && y >= 4 && y < 14; });
}

TEST(Region, MoreMetasThanCanBeTakenPassUntouched) {
  Harness h("filter=gaussian roi-from-meta=true", gray_caps);
  auto* frame = h.frame(0);
  for (guint i = 0; i < 40; ++i) gst_buffer_add_video_region_of_interest_meta(frame, "dot", i, 0, 1, 48);
  expect_inside(out_of(h, frame), [](int x, int) { return x < 32; });
}

TEST(Region, OutsideOfTheMaskIsBitExact) {
  const Inside inside = [](int x, int y) { return (x / 7 + y / 5) % 2 == 0; };
  const PngFile png(width, height, inside);
  Harness h("filter=gaussian mask=" + png.name, gray_caps);
  expect_inside(out_of(h, h.frame(0)), inside);
  h.set("mask", "");
  expect_inside(out_of(h, h.frame(0)), [](int, int) { return true; });
}

TEST(Region, AMaskThatCannotBeReadIsAnErrorThatNamesIt) {
  Harness h("filter=gaussian", gray_caps);
  h.set("mask", "/nowhere/mask.png");
  EXPECT_EQ(h.push(0U), GST_FLOW_ERROR);
  const auto text = h.error();
  EXPECT_NE(text.find("/nowhere/mask.png"), std::string::npos) << text;
  EXPECT_NE(text.find("PNG"), std::string::npos) << text;
}

TEST(Region, AMaskThatCannotBeReadStopsTheStart) {
  auto* element = GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("videodenoise", nullptr)));
  g_object_set(element, "mask", "/nowhere/mask.png", nullptr);
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_object_unref(element);
}

TEST(Region, AMaskOfAnotherSizeIsAnErrorThatNamesBoth) {
  const PngFile png(32, 20, [](int, int) { return true; });
  Harness h("filter=gaussian mask=" + png.name, gray_caps);
  h.push(0U);
  h.eos();
  const auto text = h.error();
  EXPECT_NE(text.find("32x20"), std::string::npos) << text;
  EXPECT_NE(text.find("64x48"), std::string::npos) << text;
}

TEST(Preview, SplitShowsTheInputOnTheLeft) {
  Harness h("filter=gaussian preview=split", gray_caps);
  expect_inside(out_of(h, h.frame(0)), [](int x, int) { return x >= 32; });
}

TEST(Preview, DifferenceAndNoiseShowWhatWasTakenAway) {
  Harness plain("", gray_caps);
  const Buffer input(plain.frame(0));
  const auto before = bytes(input), after = whole_frame();
  Harness noise("filter=gaussian preview=noise", gray_caps);
  Harness difference("filter=gaussian preview=difference", gray_caps);
  const auto n = out_of(noise, noise.frame(0)), d = out_of(difference, difference.frame(0));
  for (std::size_t i = 0; i < before.size(); ++i) {
    const int removed = before[i] - after[i];
    ASSERT_EQ(n[i], std::clamp(128 + removed, 0, 255));
    ASSERT_EQ(d[i], std::clamp(8 * std::abs(removed), 0, 255));
  }
}

TEST(Preview, DifferenceOfNoFilterIsBlack) {
  Harness h("filter=none preview=difference", gray_caps);
  EXPECT_EQ(out_of(h, h.frame(0)), std::vector<std::uint8_t>(width * height));
}

TEST(Preview, ChangesWhilePlaying) {
  Harness h("filter=gaussian async-depth=4", gray_caps);
  for (const char* preview : {"off", "split", "noise", "difference", "off"}) {
    h.set("preview", preview);
    const auto out = out_of(h, h.frame(0));
    EXPECT_EQ(out == whole_frame(), std::string(preview) == "off") << preview;
  }
}

}  // namespace
}  // namespace quietframe::test
