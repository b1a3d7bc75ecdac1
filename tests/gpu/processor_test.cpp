// The CUDA processor on a real GPU: the direct path against the CPU for every filter, format, size and
// stride; the same bytes at every depth and in every run; changes of parameters, caps and memory in
// mid-stream; every single CUDA call failing once. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda/cuda_processor.hpp"
#include "faulty_runtime.hpp"
#include "pinned_frame.hpp"
#include "support/fill.hpp"

namespace quietframe {
namespace {

using namespace test;
using cuda::CudaProcessor;

class GpuProcessor : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = cuda::probe();
    if (found.devices.empty()) GTEST_SKIP() << found.why_none;
    gpu_ = std::make_unique<CudaProcessor>(found.devices.front());
    cpu_ = make_cpu_processor(0);
  }

  static std::vector<const FilterInfo*> filters() {
    std::vector<const FilterInfo*> some{nullptr};
    for (const auto& f : all_filters())
      if (f.run_cuda) some.push_back(&f);
    return some;
  }
  static FrameSettings settings_of(const FilterInfo* filter) {
    return filter ? default_settings(*filter) : FrameSettings{};
  }

  // One frame through both, and compared.
  void compare(const FrameSettings& settings, const FrameFormat& format, int padding, Fill what,
               unsigned seed) {
    PinnedFrame in(format, padding), out(format, padding), wanted(format, padding);
    fill(in.frame(), what, seed);
    // What no pixel owns passes as it is on both.
    copy_rows(in.frame(), wanted.frame());
    gpu_->configure(format, 2);
    cpu_->configure(format, 1);
    cpu_->wait(cpu_->submit(in.frame(), wanted.frame(), settings));
    const auto report = gpu_->wait(gpu_->submit(in.frame(), out.frame(), settings));
    EXPECT_EQ(report.path, MemoryPath::direct);
    EXPECT_EQ(report.cpu_copied_bytes, 0U);
    EXPECT_TRUE(out.guards_intact() && in.guards_intact());
    const auto d = largest_difference(wanted.frame(), out.frame());
    const double tolerance = settings.filter ? settings.filter->tolerance : 0;
    const bool floats = format_info(format.format).type == SampleType::f32;
    EXPECT_TRUE(floats ? d.levels <= tolerance : d.codes <= (tolerance > 0 ? 1.0 : 0.0))
        << d.levels << " levels apart in group " << d.group << " channel " << d.channel << " at (" << d.x
        << ", " << d.y << ")";
  }
  static void copy_rows(const Frame& from, const Frame& to) {
    const auto& info = format_info(from.format.format);
    for (int p = 0; p < info.planes; ++p) {
      const auto size = plane_size(info, p, from.format.width, from.format.height);
      for (int y = 0; y < size.rows; ++y)
        std::memcpy(to.plane[p] + y * to.stride[p], from.plane[p] + y * from.stride[p],
                    static_cast<std::size_t>(size.row_bytes));
    }
  }

  std::unique_ptr<CudaProcessor> gpu_;
  std::unique_ptr<Processor> cpu_;
};

TEST_F(GpuProcessor, DirectPathInEveryFormatAndStride) {
  for (const auto* filter : filters())
    for (const auto& info : all_formats())
      for (const auto& [w, h] : {std::pair{1, 1}, {45, 31}, {128, 64}})
        for (const int padding : {0, 4, 64}) {
          SCOPED_TRACE(std::string(filter ? filter->name : "none") + " " + info.name + " " +
                       std::to_string(w) + "x" + std::to_string(h) + " padding " + std::to_string(padding));
          compare(settings_of(filter), {info.format, w, h, 0}, padding, Fill::scene, 3);
        }
}

// Every program of every filter (each value of each of its choices) on one small frame: little enough for
// racecheck.
TEST_F(GpuProcessor, EveryProgramOnASmallFrame) {
  const char* only = std::getenv("QF_TEST_FILTER");
  for (const auto* filter : filters()) {
    if (!filter || (only && std::string(only) != filter->name)) continue;
    for (const auto& row : filter->params)
      for (std::size_t choice = 0; choice < std::max<std::size_t>(row.choices.size(), 1); ++choice) {
        if (row.choices.empty() && &row != &filter->params.front()) continue;  // the defaults, once
        auto settings = settings_of(filter);
        if (!row.choices.empty()) row.set(settings.params.data(), static_cast<double>(choice));
        for (const auto format : {PixelFormat::gray8, PixelFormat::rgb, PixelFormat::gray16_le}) {
          SCOPED_TRACE(std::string(filter->name) + " " + row.name + " " + std::to_string(choice) + " " +
                       format_info(format).name);
          compare(settings, {format, 41, 37, 0}, 0, Fill::scene, 4);
        }
      }
  }
}

TEST_F(GpuProcessor, LargeFrames) {
  for (const auto* filter : filters())
    for (const auto format : {FrameFormat{PixelFormat::nv12, 1920, 1080, 0},
                              {PixelFormat::gray16_le, 1023, 767, 12},
                              {PixelFormat::rgb, 8191, 3, 0},
                              {PixelFormat::gray8, 5, 4097, 0}}) {
      SCOPED_TRACE(std::string(filter ? filter->name : "none") + " " + format_info(format.format).name + " " +
                   std::to_string(format.width));
      compare(settings_of(filter), format, 0, Fill::scene, 5);
    }
}

// Bytes of 24 frames at a depth, pinned or pageable, with the parameters changing under way.
std::vector<std::vector<std::byte>> film(Processor& processor, const FilterInfo* filter, int depth,
                                         MemoryKind kind) {
  const FrameFormat format{PixelFormat::nv12, 321, 241, 0};
  constexpr std::size_t frames = 24;
  std::vector<std::unique_ptr<PinnedFrame>> in, out;
  for (std::size_t i = 0; i < frames; ++i) {
    in.push_back(std::make_unique<PinnedFrame>(format));
    out.push_back(std::make_unique<PinnedFrame>(format));
    fill(in.back()->frame(), Fill::scene, static_cast<unsigned>(i));
  }
  processor.configure(format, depth);
  for (std::size_t i = 0; i < frames + static_cast<std::size_t>(depth); ++i) {
    if (i >= static_cast<std::size_t>(depth)) {
      processor.wait_input(i - static_cast<std::size_t>(depth));
      processor.wait(i - static_cast<std::size_t>(depth));
    }
    if (i >= frames) continue;
    auto settings = filter ? default_settings(*filter) : FrameSettings{};
    settings.common.strength = i % 5 == 0 ? 0.5f : 1.f;
    Frame a = in[i]->frame(), b = out[i]->frame();
    a.memory = b.memory = kind;
    processor.submit(a, b, settings);
  }
  std::vector<std::vector<std::byte>> bytes;
  for (const auto& f : out)
    bytes.emplace_back(f->frame().plane[0], f->frame().plane[0] + pack_frame(format, nullptr, nullptr));
  return bytes;
}

TEST_F(GpuProcessor, TheSameBytesAtEveryDepthAndInEveryRun) {
  for (const auto* filter : filters()) {
    SCOPED_TRACE(filter ? filter->name : "none");
    const auto once = film(*gpu_, filter, 1, MemoryKind::pinned);
    for (const int depth : {1, 2, 3, 8, 16})
      EXPECT_TRUE(once == film(*gpu_, filter, depth, MemoryKind::pinned)) << depth;
    EXPECT_TRUE(once == film(*gpu_, filter, 4, MemoryKind::pageable)) << "pageable";
  }
}

// Sixteen frames of changing noise, a reset, a frame that takes no part, and a cut.
struct Smoothed {
  std::vector<std::array<std::array<float, max_channels>, max_groups>> sigma;
  std::vector<std::unique_ptr<PinnedFrame>> out;
};
Smoothed smoothed_film(Processor& processor, const FilterInfo& filter, const FrameFormat& format,
                       std::size_t depth) {
  constexpr std::size_t frames = 16;
  Smoothed film;
  std::vector<std::unique_ptr<PinnedFrame>> in;
  for (std::size_t i = 0; i < frames; ++i) {
    in.push_back(std::make_unique<PinnedFrame>(format));
    film.out.push_back(std::make_unique<PinnedFrame>(format));
    fill(in.back()->frame(), i == 12 ? Fill::maximum : Fill::scene, static_cast<unsigned>(i),
         4.f + 2.f * static_cast<float>(i % 5));
  }
  auto settings = default_settings(filter);
  settings.common.noise_estimate = NoiseEstimate::smoothed;
  processor.configure(format, static_cast<int>(depth));
  for (std::size_t i = 0; i < frames + depth; ++i) {
    if (i >= depth) film.sigma.push_back(processor.wait(i - depth).sigma);
    if (i >= frames) continue;
    settings.stream_time = static_cast<std::int64_t>(i) * 40'000'000;
    settings.reset_history = i == 0 || i == 7;
    settings.common.noise_sigma = i == 9 ? 5.f : 0.f;
    processor.submit(in[i]->frame(), film.out[i]->frame(), settings);
  }
  return film;
}

TEST_F(GpuProcessor, SmoothedNoiseIsTheCpusAtEveryDepth) {
  for (const auto* filter : filters()) {
    if (!filter || filter->noise_use(default_settings(*filter).params.data()) == NoiseUse::none) continue;
    for (const auto& format : {FrameFormat{PixelFormat::gray8, 1, 1, 0},
                               {PixelFormat::nv12, 321, 241, 0},
                               {PixelFormat::gray16_le, 200, 99, 12},
                               {PixelFormat::argb, 130, 65, 0},
                               {PixelFormat::yuy2, 75, 40, 0},
                               {PixelFormat::rgb_f32, 64, 64, 0},
                               {PixelFormat::gray8, 1283, 823, 0}}) {
      SCOPED_TRACE(std::string(filter->name) + " " + format_info(format.format).name + " " +
                   std::to_string(format.width));
      if (format.width > 1000 && std::string_view(filter->name) != "wavelet") continue;
      const auto cpu = smoothed_film(*cpu_, *filter, format, 1);
      for (const std::size_t depth : {1, 4, 16}) {
        const auto gpu = smoothed_film(*gpu_, *filter, format, depth);
        for (std::size_t i = 0; i < gpu.sigma.size(); ++i) {
          const auto& info = format_info(format.format);
          for (int g = 0; g < info.groups; ++g)
            for (int c = 0; c < info.group[g].channels; ++c)
              EXPECT_NEAR(gpu.sigma[i][g][c], cpu.sigma[i][g][c], 2e-5f * cpu.sigma[i][g][c])
                  << "frame " << i << " depth " << depth;
          const auto d = largest_difference(cpu.out[i]->frame(), gpu.out[i]->frame());
          EXPECT_LE(
              format_info(format.format).type == SampleType::f32 ? d.levels - filter->tolerance : d.codes - 1,
              0)
              << "frame " << i << " depth " << depth;
        }
      }
    }
  }
}

TEST_F(GpuProcessor, TimesAddUp) {
  const FrameFormat format{PixelFormat::nv12, 1920, 1080, 0};
  PinnedFrame in(format), out(format);
  fill(in.frame(), Fill::scene, 1);
  gpu_->set_timing(true);
  gpu_->configure(format, 2);
  FrameReport report;
  for (int i = 0; i < 4; ++i)
    report = gpu_->wait(gpu_->submit(in.frame(), out.frame(), settings_of(filters().back())));
  EXPECT_GT(report.upload_us, 10.f);
  EXPECT_GT(report.kernel_us, 1.f);
  EXPECT_GT(report.download_us, 10.f);
}

// Fails the n-th CUDA call, for every n that a short run makes.
TEST_F(GpuProcessor, AnySingleCallMayFail) {
  const FrameFormat format{PixelFormat::nv12, 128, 64, 0};
  const auto* filter = filters().back();
  auto device = cuda::probe().devices.front();
  for (const int code : {2, 999}) {
    for (int n = 1;; ++n) {
      cuda::FaultyRuntime faulty(cuda::runtime(), n, code);
      cuda::replace_runtime(&faulty);
      int errors = 0;
      bool configured = false;
      {
        std::vector<std::unique_ptr<PinnedFrame>> frames;
        CudaProcessor processor(device);
        for (int i = 0; i < 4; ++i) {
          try {
            frames.push_back(std::make_unique<PinnedFrame>(format));
          } catch (const std::runtime_error&) {
            --i;  // the fault hit this test's own memory
          }
        }
        try {
          processor.set_timing(true);
          processor.configure(format, 2);
          configured = true;
        } catch (const Error&) {
          ++errors;
        }
        if (configured)
          for (std::size_t i = 0; i < 6; ++i) {
            Frame in = frames[i % 2]->frame();
            if (i > 3) in.memory = MemoryKind::pageable;
            const auto frame = processor.submit(in, frames[2 + i % 2]->frame(), settings_of(filter));
            processor.wait_input(frame);
            try {
              processor.wait(frame);
            } catch (const Error&) {
              ++errors;
            }
          }
        faulty.disarm();
        processor.configure(format, 2);
        processor.wait(processor.submit(frames[0]->frame(), frames[2]->frame(), settings_of(filter)));
      }
      cuda::replace_runtime(nullptr);
      EXPECT_LE(errors, 1) << "call " << n;
      if (!faulty.fired()) break;
    }
  }
}

TEST_F(GpuProcessor, DevicesThatDoNotExist) {
  try {
    cuda::make_processor(1000);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("device 1000 does not exist"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace quietframe
