// Every filter on the backend under test, against its definition: hostile sizes, every format, every fill,
// the ends of every parameter. --backend=cpu (the default) or cuda; without a device the cuda tests are
// skipped.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <ostream>

#include "parity/backend.hpp"
#include "support/fill.hpp"
#include "support/settings_text.hpp"

namespace quietframe {

std::ostream& operator<<(std::ostream& out, const FilterInfo* f) { return out << f->name; }

namespace {

using namespace test;

struct Size {
  int width, height;
};
constexpr Size hostile_sizes[] = {{1, 1},  {1, 9},   {11, 1},  {2, 2},    {3, 5},   {1, 67},
                                  {53, 1}, {17, 13}, {37, 29}, {131, 23}, {64, 48}, {261, 7}};

std::string describe(const FrameSettings& s, const FrameFormat& f) {
  std::ostringstream text;
  text << s.filter->name << ' ' << format_info(f.format).name << ' ' << f.width << 'x' << f.height;
  for (const auto& row : s.filter->params) text << ' ' << row.name << '=' << row.get(s.params.data());
  text << " noise-sigma=" << s.common.noise_sigma;
  return text.str();
}

class Parity : public testing::TestWithParam<const FilterInfo*> {
 protected:
  void SetUp() override {
    if (request.choice == BackendChoice::cuda && !GetParam()->run_cuda)
      GTEST_SKIP() << GetParam()->name << " has no CUDA program in this build";
    try {
      tested_ = select_backend(request).processor;
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
    definition_ = make_cpu_processor(2, CpuProgram::definition);
  }

  FrameSettings defaults() const { return default_settings(*GetParam()); }

  // Output of the backend under test, of `frames` frames in flight at once; the last one is returned.
  static std::unique_ptr<GuardedFrame> filtered(Processor& processor, const FrameSettings& settings,
                                                const FrameFormat& format, Fill what, int padding,
                                                unsigned seed) {
    const int frames = settings.filter->history(settings.params.data()) + 1;
    std::vector<std::unique_ptr<GuardedFrame>> in, out;
    processor.configure(format, frames);
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < frames; ++i) {
      // 0xff is NaN in a float's place: whoever reads beyond a row's end will show it.
      in.push_back(std::make_unique<GuardedFrame>(format, padding, std::byte{0xff}));
      out.push_back(std::make_unique<GuardedFrame>(format, padding == 0 ? 0 : padding + 8, std::byte{0xa5}));
      fill(in.back()->frame(), what, seed + static_cast<unsigned>(i));
      numbers.push_back(processor.submit(in.back()->frame(), out.back()->frame(), settings));
    }
    for (const auto n : numbers) processor.wait(n);
    for (const auto& f : in)
      EXPECT_TRUE(f->guards_intact()) << describe(settings, format) << ": input written";
    for (const auto& f : out)
      EXPECT_TRUE(f->guards_intact()) << describe(settings, format) << ": written outside";
    return std::move(out.back());
  }

  void expect_equal(const FrameSettings& settings, const FrameFormat& format, Fill what, int padding,
                    unsigned seed) {
    const auto wanted = filtered(*definition_, settings, format, what, padding, seed);
    const auto got = filtered(*tested_, settings, format, what, padding, seed);
    const auto d = largest_difference(wanted->frame(), got->frame());
    const double tolerance = settings.filter->tolerance;
    const bool floats = format_info(format.format).type == SampleType::f32;
    // A level that ends near half a code may be rounded either way.
    const bool close = floats ? d.levels <= tolerance : d.codes <= (tolerance > 0 ? 1.0001 : 0.0);
    EXPECT_TRUE(close) << describe(settings, format) << " fill " << static_cast<int>(what) << ": " << d.levels
                       << " levels apart in group " << d.group << " channel " << d.channel << " at (" << d.x
                       << ", " << d.y << ")";
  }

  std::unique_ptr<Processor> tested_, definition_;
};

TEST_P(Parity, HostileSizes) {
  for (const auto& size : hostile_sizes)
    for (const auto format :
         {PixelFormat::gray_f32, PixelFormat::rgb_f32, PixelFormat::gray8, PixelFormat::i420})
      for (const int padding : {0, 20})
        expect_equal(defaults(), {format, size.width, size.height, 0}, Fill::scene, padding, 1);
}

TEST_P(Parity, EveryFill) {
  for (const auto what : all_fills)
    for (const auto format : {PixelFormat::gray_f32, PixelFormat::rgb_f32, PixelFormat::gray16_le})
      expect_equal(defaults(), {format, 61, 37, 0}, what, 4, 2);
}

TEST_P(Parity, EveryFormat) {
  for (const auto& info : all_formats())
    expect_equal(defaults(), {info.format, 45, 31, 0}, Fill::scene, 12, 3);
  expect_equal(defaults(), {PixelFormat::gray16_le, 45, 31, 12}, Fill::scene, 12, 3);
}

TEST_P(Parity, EndsOfEveryParameter) {
  auto lowest = defaults(), highest = defaults();
  for (const auto& row : GetParam()->params) {
    row.set(lowest.params.data(), row.minimum);
    row.set(highest.params.data(), row.maximum);
    for (const double value : {row.minimum, row.maximum}) {
      auto s = defaults();
      row.set(s.params.data(), value);
      for (const auto format : {PixelFormat::gray_f32, PixelFormat::rgb_f32})
        expect_equal(s, {format, 39, 21, 0}, Fill::scene, 0, 4);
    }
  }
  for (const auto& s : {lowest, highest})
    for (const auto format : {PixelFormat::gray_f32, PixelFormat::nv12})
      expect_equal(s, {format, 29, 19, 0}, Fill::scene, 0, 5);
}

TEST_P(Parity, RandomParameters) {
  std::mt19937 random(6);
  for (int i = 0; i < 12; ++i) {
    auto s = defaults();
    for (const auto& row : GetParam()->params) {
      // Squared, so that small windows come up more often than large ones.
      const double u = std::uniform_real_distribution<double>(0, 1)(random);
      row.set(s.params.data(), row.minimum + u * u *
                                                 (row.maximum - row.minimum +
                                                  (row.type == quietframe::ParamType::Float ? 0 : 0.999)));
    }
    s.common.noise_sigma = i % 2 == 0 ? 0.f : 15.f;
    s.common.strength = i % 3 == 0 ? 0.6f : 1.f;
    const FrameFormat format{i % 4 < 2 ? PixelFormat::gray_f32 : PixelFormat::rgb_f32, 20 + 9 * i, 41 - 3 * i,
                             0};
    expect_equal(s, format, Fill::scene, 8, static_cast<unsigned>(i));
  }
}

TEST_P(Parity, ConstantsStayConstant) {
  for (const auto& info : all_formats())
    for (const auto what : {Fill::zero, Fill::maximum}) {
      const FrameFormat format{info.format, 53, 17, 0};
      GuardedFrame in(format, 4, std::byte{0xff});
      fill(in.frame(), what, 0);
      const auto out = filtered(*tested_, defaults(), format, what, 4, 0);
      const auto d = largest_difference(in.frame(), out->frame());
      EXPECT_LE(d.levels, info.type == SampleType::f32 ? 1e-3 : 0.0) << describe(defaults(), format);
    }
}

TEST_P(Parity, TheSameEveryTime) {
  const FrameFormat format{PixelFormat::rgb_f32, 167, 59, 0};
  const auto once = filtered(*tested_, defaults(), format, Fill::scene, 0, 7);
  const auto again = filtered(*tested_, defaults(), format, Fill::scene, 0, 7);
  EXPECT_TRUE(same_bytes(once->frame(), again->frame()));
  for (const int threads : {1, 3, 5}) {
    auto other = request;
    other.threads = threads;
    const auto processor = select_backend(other).processor;
    EXPECT_TRUE(
        same_bytes(once->frame(), filtered(*processor, defaults(), format, Fill::scene, 0, 7)->frame()))
        << threads << " threads";
  }
}

std::vector<const FilterInfo*> filters() {
  std::vector<const FilterInfo*> all;
  for (const auto& f : all_filters()) all.push_back(&f);
  return all;
}
std::vector<const FilterInfo*> filters_that_use_the_noise() {
  auto some = filters();
  std::erase_if(some, [](const FilterInfo* f) {
    return f->noise_use(default_settings(*f).params.data()) == NoiseUse::none;
  });
  return some;
}
std::string name_of(const testing::TestParamInfo<const FilterInfo*>& filter) { return filter.param->name; }

INSTANTIATE_TEST_SUITE_P(Filters, Parity, testing::ValuesIn(filters()), name_of);

// Both ways round a strength: more of it changes the picture more.
struct Strength {
  const char *filter, *parameter;
  std::array<double, 4> rising;
};
constexpr Strength strengths[] = {
    {"gaussian", "sigma", {0.3, 0.7, 1.5, 4}},
    {"median", "radius", {1, 2, 5, 12}},
    {"bilateral", "sigma-range", {1, 10, 30, 120}},
    {"bilateral", "sigma-space", {0.4, 0.8, 1.5, 4}},
    {"nlm", "h", {4, 8, 15, 60}},
    {"nlm", "sigma", {0, 5, 10, 30}},
    {"nlm", "search-radius", {1, 3, 6, 12}},
    {"wavelet", "alpha", {0.2, 0.5, 1, 3}},
};

class Strengths : public Parity {};
class NoiseFree : public Parity {};

TEST_P(Strengths, MoreChangesMore) {
  const FrameFormat format{PixelFormat::gray_f32, 96, 64, 0};
  GuardedFrame in(format, 0, std::byte{0});
  fill(in.frame(), Fill::scene, 8);
  for (const auto& s : strengths) {
    if (GetParam() != find_filter(s.filter)) continue;
    double before = 0;
    for (const double value : s.rising) {
      auto settings = defaults();
      find_param(*settings.filter, s.parameter).set(settings.params.data(), value);
      const double now =
          rms_difference(in.frame(), filtered(*tested_, settings, format, Fill::scene, 0, 8)->frame());
      EXPECT_GT(now, before) << s.filter << ' ' << s.parameter << '=' << value;
      before = now;
    }
  }
}

TEST_P(NoiseFree, ComesBack) {
  const FrameFormat format{PixelFormat::gray8, 64, 48, 0};
  GuardedFrame in(format, 0, std::byte{0});
  fill(in.frame(), Fill::zero, 0);
  // One bright pixel in a black frame: its estimated noise is none.
  in.frame().plane[0][24 * in.frame().stride[0] + 32] = std::byte{200};
  GuardedFrame out(format, 0, std::byte{0});
  tested_->configure(format, 1);
  const auto settings = defaults();
  tested_->wait(tested_->submit(in.frame(), out.frame(), settings));
  EXPECT_TRUE(same_bytes(in.frame(), out.frame()));
}

INSTANTIATE_TEST_SUITE_P(Filters, Strengths, testing::ValuesIn(filters()), name_of);
INSTANTIATE_TEST_SUITE_P(Filters, NoiseFree, testing::ValuesIn(filters_that_use_the_noise()), name_of);

}  // namespace
}  // namespace quietframe

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--backend=cuda") == 0)
      quietframe::test::request.choice = quietframe::BackendChoice::cuda;
    else if (std::strcmp(argv[i], "--backend=cpu") != 0) {
      std::fprintf(stderr, "%s: unknown option %s (known: --backend=cpu, --backend=cuda, --gtest_...)\n",
                   argv[0], argv[i]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
