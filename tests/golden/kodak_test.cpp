// The published figures: Kodak's kodim07 with Gaussian noise of sigma 20.4 clipped to 8 bits, one PSNR a
// filter. The picture is looked for in $QUIETFRAME_DATA (else ../shared/data beside the source),
// clean/kodak/kodim07.png.
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "noise/models.hpp"
#include "processor.hpp"
#include "quality/metrics.hpp"
#include "support/settings_text.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

struct Picture {
  FrameFormat format;
  std::vector<std::byte> bytes;

  Frame frame() {
    Frame f;
    pack_frame(format, bytes.data(), &f);
    return f;
  }
};

std::filesystem::path picture_path() {
  const char* data = std::getenv("QUIETFRAME_DATA");
  return std::filesystem::path(data ? data : QF_SOURCE_DIR "/../shared/data") / "clean/kodak/kodim07.png";
}

Picture read_png(const std::filesystem::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, path.c_str())) throw std::runtime_error(image.message);
  image.format = PNG_FORMAT_RGB;
  Picture p{{PixelFormat::rgb, static_cast<int>(image.width), static_cast<int>(image.height), 0}, {}};
  p.bytes.resize(PNG_IMAGE_SIZE(image));
  const int stride = static_cast<int>(image.width) * 3;
  if (!png_image_finish_read(&image, nullptr, p.bytes.data(), stride, nullptr))
    throw std::runtime_error(image.message);
  return p;
}

Picture with_noise(const Picture& clean, float sigma) {
  ThreadPool pool(1);
  Picture noisy = clean;
  const int w = clean.format.width, h = clean.format.height;
  std::vector<float> plane(static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
  const ImageView<float> view{plane.data(), w, h, std::ptrdiff_t{w} * 4};
  for (std::uint32_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < plane.size(); ++i) plane[i] = static_cast<float>(clean.bytes[3 * i + c]);
    add_noise(as_const(view), view, {NoiseModel::gaussian, sigma}, {7, 0, c}, pool);
    for (std::size_t i = 0; i < plane.size(); ++i)
      noisy.bytes[3 * i + c] = static_cast<std::byte>(std::clamp(std::lround(plane[i]), 0L, 255L));
  }
  return noisy;
}

double psnr_of(const Picture& a, const Picture& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    const double d = static_cast<double>(a.bytes[i]) - static_cast<double>(b.bytes[i]);
    sum += d * d;
  }
  return psnr(sum / static_cast<double>(a.bytes.size()), 255);
}

TEST(Kodak, PublishedFigures) {
  if (!std::filesystem::exists(picture_path()))
    GTEST_SKIP() << picture_path()
                 << " is not there; set QUIETFRAME_DATA to the folder that has clean/kodak/kodim07.png";
  const auto clean = read_png(picture_path());
  auto noisy = with_noise(clean, 20.4f);
  EXPECT_NEAR(psnr_of(clean, noisy), 22.04, 0.06);
  struct {
    const char *filter, *parameters;
    double psnr;
  } const wanted[] = {
      {"gaussian", "sigma=0.9", 29.25},
      {"median", "radius=1", 28.01},
      {"bilateral", "sigma-space=2 sigma-range=63.75", 30.66},
      {"nlm", "patch-radius=2 search-radius=7 h=21.675 implementation=box", 31.14},
      {"nlm", "patch-radius=2 search-radius=7 h=21.675 implementation=direct", 31.14},
  };
  const auto processor = make_cpu_processor(0);
  processor->configure(noisy.format, 1);
  for (const auto& w : wanted) {
    Picture out = noisy;
    processor->wait(
        processor->submit(noisy.frame(), out.frame(), test::settings_from(w.filter, w.parameters)));
    const double got = psnr_of(clean, out);
    RecordProperty(std::string(w.filter) + ' ' + w.parameters, std::to_string(got));
    std::printf("%s %s: %.3f dB (published %.2f)\n", w.filter, w.parameters, got, w.psnr);
    EXPECT_NEAR(got, w.psnr, 0.06) << w.filter << ' ' << w.parameters;
  }
}

}  // namespace
}  // namespace quietframe
