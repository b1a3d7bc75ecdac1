// The CUDA processor's own logic on a fake GPU: order, overlap, staging, layouts, updates instead of
// rebuilds, history, running out of memory, and every single call failing once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "cuda/cuda_processor.hpp"
#include "cuda/job.hpp"
#include "fake_runtime.hpp"

namespace quietframe::cuda {
namespace {

FakeRuntime* fake = nullptr;

// out = in + offset + the sum of the past frames' samples, bytes modulo 256; scratch and sigma are touched.
struct TestParams {
  int offset = 1;
  int look_back = 0;
  int noise = 0;
};
const ParamInfo no_params[] = {QF_PARAM(TestParams, offset, "offset", "", 0, 255, "")};

std::byte* at(const GroupView& v, int c, int x, int y) {
  return v.channel[c] + y * v.stride[c] + std::ptrdiff_t{x} * v.step;
}

void run_test_filter(const CudaJob& job, const void* params) {
  const auto p = *static_cast<const TestParams*>(params);
  std::vector<GroupView> past(job.past.begin(), job.past.end());
  fake->enqueue(job.stream, [job, p, past] {
    std::memset(job.scratch, 0xab, 4096);
    for (int c = 0; c < job.in.channels; ++c)
      for (int y = 0; y < job.in.height; ++y)
        for (int x = 0; x < job.in.width; ++x) {
          int sum = std::to_integer<int>(*at(job.in, c, x, y)) + p.offset;
          for (const auto& earlier : past) sum += std::to_integer<int>(*at(earlier, c, x, y));
          *at(job.out, c, x, y) = static_cast<std::byte>(sum);
          if (job.out.carry)
            job.out.carry[y * job.out.stride[0] + std::ptrdiff_t{x} * job.out.step] =
                job.in.carry[y * job.in.stride[0] + std::ptrdiff_t{x} * job.in.step];
        }
  });
}

const FilterInfo test_filter = [] {
  FilterInfo f{};
  f.name = "test";
  f.params = no_params;
  f.params_size = sizeof(TestParams);
  f.construct_params = [](void* p) { new (p) TestParams{}; };
  f.noise_use = [](const void* p) {
    return static_cast<const TestParams*>(p)->noise != 0 ? NoiseUse::shared : NoiseUse::none;
  };
  f.history = [](const void* p) { return static_cast<const TestParams*>(p)->look_back; };
  f.cuda_scratch = [](const CudaShape&) { return std::size_t{4096}; };
  f.run_cuda = run_test_filter;
  return f;
}();

// The same, once hold_kernels says so.
std::atomic<bool>* hold_kernels = nullptr;
const FilterInfo held_filter = [] {
  FilterInfo f = test_filter;
  f.run_cuda = [](const CudaJob& job, const void* params) {
    fake->enqueue(job.stream, [] {
      while (!*hold_kernels) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    run_test_filter(job, params);
  };
  return f;
}();

FrameSettings settings_of(TestParams p) {
  auto s = default_settings(test_filter);
  std::memcpy(s.params.data(), &p, sizeof p);
  return s;
}

// A frame over its own memory, with guard bytes round every row.
struct TestFrame {
  static constexpr std::byte guard{0x5a};
  std::vector<std::byte> memory;
  Frame frame;

  TestFrame(const FrameFormat& format, int fill, std::ptrdiff_t padding = 0, bool upside_down = false) {
    const auto& info = format_info(format.format);
    frame.format = format;
    std::array<std::size_t, max_planes> offset{};
    std::size_t bytes = 64;
    for (int i = 0; i < info.planes; ++i) {
      const auto size = plane_size(info, i, format.width, format.height);
      frame.stride[i] = size.row_bytes + padding;
      offset[i] = bytes;
      bytes += static_cast<std::size_t>(frame.stride[i]) * static_cast<std::size_t>(size.rows);
    }
    memory.assign(bytes + 64, guard);
    for (int i = 0; i < info.planes; ++i) {
      const auto size = plane_size(info, i, format.width, format.height);
      frame.plane[i] = memory.data() + offset[i];
      if (upside_down) {
        frame.plane[i] += (size.rows - 1) * frame.stride[i];
        frame.stride[i] = -frame.stride[i];
      }
      for (int y = 0; y < size.rows; ++y)
        std::memset(frame.plane[i] + y * frame.stride[i], fill, static_cast<std::size_t>(size.row_bytes));
    }
  }

  // Every sample has the value, and every other byte is still the guard.
  bool holds(int value) const {
    const auto& info = format_info(frame.format.format);
    auto copy = memory;
    for (int i = 0; i < info.planes; ++i) {
      const auto size = plane_size(info, i, frame.format.width, frame.format.height);
      for (int y = 0; y < size.rows; ++y) {
        auto* row = copy.data() + (frame.plane[i] - memory.data()) + y * frame.stride[i];
        for (std::ptrdiff_t x = 0; x < size.row_bytes; ++x) {
          if (row[x] != static_cast<std::byte>(value)) return false;
          row[x] = guard;
        }
      }
    }
    return std::ranges::all_of(copy, [](std::byte b) { return b == guard; });
  }
};

class CudaProcessorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake = &runtime_;
    replace_runtime(&runtime_);
  }
  void TearDown() override {
    processor_.reset();
    EXPECT_EQ(runtime_.live(), 0U) << "handles or memory leaked";
    EXPECT_EQ(runtime_.misuses, 0);
    EXPECT_EQ(runtime_.pushed, 0) << "a context was left current";
    replace_runtime(nullptr);
  }
  CudaProcessor& processor() {
    if (!processor_) processor_ = std::make_unique<CudaProcessor>(Device{0, "Fake GPU", 1, 9, 0, 1U << 30});
    return *processor_;
  }
  // Runs `count` frames of value i through, `slots` in flight, and checks each.
  void run(const FrameFormat& format, int slots, int count, MemoryKind kind, const FrameSettings& settings,
           const std::function<int(int)>& expected, std::ptrdiff_t padding = 0, bool upside_down = false) {
    processor().configure(format, slots);
    std::vector<TestFrame> in, out;
    for (int i = 0; i < count; ++i) {
      in.emplace_back(format, i, padding, upside_down).frame.memory = kind;
      out.emplace_back(format, 0xee, padding, upside_down).frame.memory = kind;
    }
    for (int i = 0; i < count + slots; ++i) {
      if (i >= slots) {
        const auto n = static_cast<std::size_t>(i - slots);
        processor().wait_input(n);
        processor().wait(n);
        ASSERT_TRUE(out[n].holds(expected(static_cast<int>(n))))
            << "frame " << n << ": " << std::to_integer<int>(out[n].frame.plane[0][0]);
      }
      if (i < count) {
        const auto n = static_cast<std::size_t>(i);
        ASSERT_EQ(processor().submit(in[n].frame, out[n].frame, settings), n);
      }
    }
  }

  FakeRuntime runtime_;
  std::unique_ptr<CudaProcessor> processor_;
};

const FrameFormat small{PixelFormat::nv12, 64, 16, 0};

TEST_F(CudaProcessorTest, EveryFormatDepthMemoryAndStride) {
  for (const auto& info : all_formats())
    for (const auto kind : {MemoryKind::pinned, MemoryKind::pageable})
      for (const int slots : {1, 3, 16})
        for (const std::ptrdiff_t padding : {0, 3, 64})
          for (const auto& [w, h] : {std::pair{1, 1}, {37, 5}, {64, 16}}) {
            SCOPED_TRACE(std::string(info.name) + " " + std::to_string(w) + "x" + std::to_string(h));
            run(
                {info.format, w, h, 0}, slots, 5, kind, FrameSettings{}, [](int i) { return i; }, padding,
                padding == 3);
          }
}

// Luma sample `width` of packed 4:2:2 belongs to no pixel: no filter reaches it, and it comes out as it was.
TEST_F(CudaProcessorTest, PackedOddWidthsKeepTheOrphanSample) {
  for (const auto pixel_format : {PixelFormat::yuy2, PixelFormat::uyvy})
    for (const auto kind : {MemoryKind::pinned, MemoryKind::pageable}) {
      const FrameFormat format{pixel_format, 7, 5, 0};
      processor().configure(format, 1);
      TestFrame in(format, 40), out(format, 0xee);
      in.frame.memory = out.frame.memory = kind;
      const auto n = processor().submit(in.frame, out.frame, settings_of({3}));
      processor().wait(n);
      const auto luma = group_view(out.frame, 0);
      for (int y = 0; y < 5; ++y) {
        EXPECT_EQ(*at(luma, 0, 7, y), std::byte{40});
        *at(luma, 0, 7, y) = std::byte{43};
      }
      EXPECT_TRUE(out.holds(43)) << format_info(pixel_format).name;
    }
}

TEST_F(CudaProcessorTest, FiltersAndKeepsOrder) {
  runtime_.copy_takes = std::chrono::microseconds(200);
  run(small, 4, 40, MemoryKind::pinned, settings_of({7, 0, 0}), [](int i) { return i + 7; });
  EXPECT_GT(runtime_.most_running(), 1U) << "frames never overlapped";
}

TEST_F(CudaProcessorTest, OneLaunchAFrameAndNothingRebuilt) {
  run(small, 3, 60, MemoryKind::pinned, settings_of({1, 0, 0}), [](int i) { return i + 1; });
  EXPECT_EQ(runtime_.launches, 60);
  EXPECT_EQ(runtime_.captures, 3);
  EXPECT_EQ(runtime_.instantiations, 3);
  EXPECT_EQ(runtime_.updates, 0);
  EXPECT_EQ(runtime_.copies_set, 2 * 57);  // one address up, one down
}

// Frames of value 10 become 11 where they are filtered. What is filtered changes from frame to frame while
// frames are in flight: one column less each time, by rectangle and by mask.
TEST_F(CudaProcessorTest, RegionAndMaskChangeWhileFramesAreInFlight) {
  runtime_.copy_takes = std::chrono::microseconds(100);
  const FrameFormat format{PixelFormat::gray8, 16, 4, 0};
  for (const bool masked : {false, true}) {
    processor().configure(format, 3);
    std::vector<TestFrame> in, out;
    for (int i = 0; i < 12; ++i) {
      in.emplace_back(format, 10).frame.memory = MemoryKind::pinned;
      out.emplace_back(format, 0).frame.memory = MemoryKind::pinned;
    }
    const auto check = [&](std::size_t n) {
      processor().wait(n);
      for (int x = 0; x < 16; ++x)
        ASSERT_EQ(std::to_integer<int>(out[n].frame.plane[0][2 * out[n].frame.stride[0] + x]),
                  x < 16 - static_cast<int>(n) ? 11 : 10)
            << "frame " << n << " column " << x;
    };
    for (std::size_t n = 0; n < 12; ++n) {
      auto s = settings_of({1, 0, 0});
      const int width = 16 - static_cast<int>(n);
      if (masked) {
        auto mask = std::make_shared<Mask>(Mask{16, 4, std::vector<std::uint8_t>(64)});
        for (std::size_t i = 0; i < 64; ++i) mask->pixels[i] = static_cast<int>(i % 16) < width ? 255 : 0;
        s.mask = mask;
      } else {
        s.region.limited = true;
        s.region.count = 1;
        s.region.rects[0] = {0, 0, width, 4};
      }
      if (n >= 3) check(n - 3);
      processor().submit(in[n].frame, out[n].frame, s);
    }
    for (std::size_t n = 9; n < 12; ++n) check(n);
  }
}

TEST_F(CudaProcessorTest, AMaskThatFittedIsCheckedAgainAfterASizeChange) {
  auto s = settings_of({1, 0, 0});
  s.mask = std::make_shared<Mask>(Mask{64, 16, std::vector<std::uint8_t>(64 * 16, 1)});
  run(small, 2, 3, MemoryKind::pinned, s, [](int i) { return i + 1; });
  const FrameFormat other{PixelFormat::nv12, 32, 16, 0};
  processor().configure(other, 2);
  TestFrame in(other, 1), out(other, 2);
  const auto n = processor().submit(in.frame, out.frame, s);
  EXPECT_THROW(processor().wait(n), Error);
}

TEST_F(CudaProcessorTest, AParameterChangeUpdatesAndReachesTheNextFrame) {
  processor().configure(small, 2);
  std::vector<TestFrame> in, out;
  for (int i = 0; i < 12; ++i) {
    in.emplace_back(small, 10).frame.memory = MemoryKind::pinned;
    out.emplace_back(small, 0).frame.memory = MemoryKind::pinned;
  }
  for (std::size_t i = 0; i < 12; ++i) {
    const auto n = processor().submit(in[i].frame, out[i].frame, settings_of({static_cast<int>(i), 0, 0}));
    processor().wait(n);
    EXPECT_TRUE(out[i].holds(10 + static_cast<int>(i)));
  }
  EXPECT_EQ(runtime_.instantiations, 2);
  EXPECT_EQ(runtime_.updates, 10);
}

TEST_F(CudaProcessorTest, AGraphThatCannotBeUpdatedIsReplaced) {
  runtime_.update_never_fits = true;
  processor().configure(small, 1);
  for (int i = 0; i < 4; ++i) {
    TestFrame in(small, 1), out(small, 0);
    in.frame.memory = out.frame.memory = MemoryKind::pinned;
    processor().wait(processor().submit(in.frame, out.frame, settings_of({i, 0, 0})));
    EXPECT_TRUE(out.holds(1 + i));
  }
  EXPECT_EQ(runtime_.instantiations, 4);
}

TEST_F(CudaProcessorTest, PageableMemoryIsStagedAndReported) {
  processor().configure(small, 2);
  TestFrame in(small, 3), out(small, 0);
  const auto n = processor().submit(in.frame, out.frame, settings_of({1, 0, 0}));
  std::ranges::fill(in.memory, std::byte{0xff});  // the input was let go
  processor().wait_input(n);
  const auto report = processor().wait(n);
  EXPECT_TRUE(out.holds(4));
  EXPECT_EQ(report.path, MemoryPath::staged);
  EXPECT_EQ(report.cpu_copied_bytes, 2U * 64 * 16 * 3 / 2);
}

TEST_F(CudaProcessorTest, LargeInputsAreLetGoBeforeTheirOutputs) {
  const FrameFormat large{PixelFormat::gray8, 1024, 1024, 0};
  processor().configure(large, 2);
  TestFrame in(large, 1), out(large, 0);
  in.frame.memory = out.frame.memory = MemoryKind::pinned;
  std::atomic<bool> go = false;
  hold_kernels = &go;
  auto settings = settings_of({1, 0, 0});
  settings.filter = &held_filter;
  const auto n = processor().submit(in.frame, out.frame, settings);
  processor().wait_input(n);
  std::ranges::fill(in.memory, std::byte{0xff});
  go = true;
  processor().wait(n);
  EXPECT_TRUE(out.holds(2));
}

TEST_F(CudaProcessorTest, HistoryReachesBackWhateverTheDepth) {
  for (const int slots : {1, 2, 3, 8}) {
    SCOPED_TRACE(slots);
    run(small, slots, 30, MemoryKind::pinned, settings_of({0, 2, 0}),
        [](int i) { return i + (i > 0 ? i - 1 : 0) + (i > 1 ? i - 2 : 0); });
  }
}

TEST_F(CudaProcessorTest, HistoryBeginsAnewWhereToldTo) {
  processor().configure(small, 3);
  for (int i = 0; i < 9; ++i) {
    TestFrame in(small, i), out(small, 0);
    in.frame.memory = out.frame.memory = MemoryKind::pinned;
    auto settings = settings_of({0, 1, 0});
    settings.reset_history = i == 5;
    processor().wait(processor().submit(in.frame, out.frame, settings));
    EXPECT_TRUE(out.holds(i == 0 || i == 5 ? i : i + i - 1)) << i;
  }
}

TEST_F(CudaProcessorTest, SigmaIsReportedWithItsOwnFrame) {
  processor().configure(small, 4);
  std::vector<TestFrame> in, out;
  for (int i = 0; i < 20; ++i) {
    in.emplace_back(small, i).frame.memory = MemoryKind::pinned;
    out.emplace_back(small, 0).frame.memory = MemoryKind::pinned;
  }
  for (std::size_t i = 0; i < 24; ++i) {
    if (i >= 4) {
      const auto report = processor().wait(i - 4);
      EXPECT_EQ(report.sigma[0][0], static_cast<float>(i - 4));
      EXPECT_EQ(report.sigma[1][1], static_cast<float>(i - 4));
      EXPECT_EQ(report.sigma[0][1], -1.f);
    }
    if (i < 20) processor().submit(in[i].frame, out[i].frame, settings_of({0, 0, 1}));
  }
}

// Frames that take no part, luma alone, resets, cuts and uneven stream times, with any number in flight: the
// same sigmas as on the CPU.
TEST_F(CudaProcessorTest, SmoothedSigmaIsTheCpusAtEveryDepth) {
  const FrameFormat format{PixelFormat::nv12, 96, 64, 0};
  constexpr std::size_t frames = 40;
  std::vector<TestFrame> in, out;
  for (std::size_t f = 0; f < frames; ++f) {
    in.emplace_back(format, 0).frame.memory = MemoryKind::pinned;
    out.emplace_back(format, 0).frame.memory = MemoryKind::pinned;
    std::mt19937 random(static_cast<unsigned>(f));
    const unsigned base = f > 20 ? 160 : 60, spread = f == 12 ? 1 : 10 + f;
    for (int p = 0; p < 2; ++p)
      for (std::ptrdiff_t i = 0; i < in[f].frame.stride[p] * (64 >> p); ++i)
        in[f].frame.plane[p][i] = static_cast<std::byte>(base + random() % spread);
  }
  auto run = [&](Processor& processor, FrameSettings settings, std::size_t slots) {
    settings.common.noise_estimate = NoiseEstimate::smoothed;
    processor.configure(format, static_cast<int>(slots));
    std::vector<std::array<std::array<float, max_channels>, max_groups>> sigma;
    for (std::size_t f = 0; f < frames + slots; ++f) {
      if (f >= slots) sigma.push_back(processor.wait(f - slots).sigma);
      if (f >= frames) continue;
      settings.stream_time = f == 17 ? -1 : static_cast<std::int64_t>(f * 33'000'000 + f % 3 * 5'000'000);
      settings.reset_history = f == 0 || f == 15;
      settings.common.noise_sigma = f == 7 ? 3.f : 0.f;
      settings.common.planes = f == 9 ? Planes::luma : Planes::all;
      settings.common.strength = f == 11 ? 0.f : 1.f;
      processor.submit(in[f].frame, out[f].frame, settings);
    }
    return sigma;
  };
  const auto cpu = make_cpu_processor(2);
  const auto wanted = run(*cpu, default_settings(*find_filter("wavelet")), 1);
  EXPECT_NE(wanted[5][0][0], wanted[6][0][0]);
  runtime_.copy_takes = std::chrono::microseconds(200);
  for (const std::size_t slots : {1, 2, 5, 16}) {
    const auto got = run(processor(), settings_of({0, 0, 1}), slots);
    for (std::size_t f = 0; f < frames; ++f) EXPECT_EQ(got[f], wanted[f]) << "frame " << f << ", " << slots;
  }
}

TEST_F(CudaProcessorTest, LumaAloneAndGivenSigma) {
  processor().configure(small, 1);
  TestFrame in(small, 9), out(small, 0);
  in.frame.memory = out.frame.memory = MemoryKind::pinned;
  auto settings = settings_of({5, 0, 1});
  settings.common.planes = Planes::luma;
  settings.common.noise_sigma = 12.f;
  const auto report = processor().wait(processor().submit(in.frame, out.frame, settings));
  EXPECT_EQ(out.frame.plane[0][0], std::byte{14});
  EXPECT_EQ(out.frame.plane[1][0], std::byte{9});
  EXPECT_EQ(report.sigma[0][0], 12.f);
  EXPECT_EQ(report.sigma[1][0], -1.f);
}

TEST_F(CudaProcessorTest, TimesEachStepWhenAsked) {
  runtime_.copy_takes = std::chrono::microseconds(500);
  processor().set_timing(true);
  processor().configure(small, 2);
  TestFrame in(small, 1), out(small, 0);
  in.frame.memory = out.frame.memory = MemoryKind::pinned;
  const auto report = processor().wait(processor().submit(in.frame, out.frame, settings_of({})));
  EXPECT_GE(report.upload_us, 500.f);
  EXPECT_GE(report.download_us, 500.f);
  EXPECT_GE(report.kernel_us, 0.f);
}

TEST_F(CudaProcessorTest, FewerLanesWhereDeviceMemoryIsShort) {
  const FrameFormat format{PixelFormat::gray8, 256, 256, 0};
  runtime_.device_bytes = 2 * device_capacity(format) * 3 + 4096;
  run(format, 8, 30, MemoryKind::pinned, settings_of({2, 0, 0}), [](int i) { return i + 2; });
  EXPECT_LT(processor().lanes(), 4);
  EXPECT_GE(processor().lanes(), 1);
}

TEST_F(CudaProcessorTest, TooLittleDeviceMemoryForOneFrameIsAClearError) {
  runtime_.device_bytes = 1024;
  try {
    processor().configure({PixelFormat::rgba, 1920, 1080, 0}, 4);
    FAIL() << "no error";
  } catch (const Error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("1920x1080 RGBA"), std::string::npos) << what;
    EXPECT_NE(what.find("backend=cpu"), std::string::npos) << what;
  }
  EXPECT_THROW(processor().submit({}, {}, {}), Error);
  runtime_.device_bytes = 1U << 30;
  run(small, 2, 4, MemoryKind::pinned, settings_of({1, 0, 0}), [](int i) { return i + 1; });
}

TEST_F(CudaProcessorTest, CapsChangesLeaveNothingBehind) {
  run(small, 4, 6, MemoryKind::pageable, settings_of({1, 0, 0}), [](int i) { return i + 1; });
  const auto live = runtime_.live();
  for (int i = 0; i < 20; ++i) {
    run({PixelFormat::rgb, 31 + i, 17, 0}, 4, 6, MemoryKind::pageable, settings_of({1, 0, 0}),
        [](int k) { return k + 1; });
    run(small, 4, 6, MemoryKind::pageable, settings_of({1, 0, 0}), [](int k) { return k + 1; });
    ASSERT_EQ(runtime_.live(), live);
  }
}

TEST_F(CudaProcessorTest, WrongFramesComeOutOfWaitAndHarmNoOthers) {
  processor().configure(small, 2);
  TestFrame wrong({PixelFormat::nv12, 32, 16, 0}, 1), in(small, 1), out(small, 0);
  in.frame.memory = out.frame.memory = MemoryKind::pinned;
  const auto bad = processor().submit(wrong.frame, out.frame, settings_of({}));
  const auto good = processor().submit(in.frame, out.frame, settings_of({}));
  processor().wait_input(bad);
  EXPECT_THROW(processor().wait(bad), Error);
  processor().wait(good);
  EXPECT_TRUE(out.holds(2));
}

TEST_F(CudaProcessorTest, DevicesThatDoNotExist) {
  runtime_.devices = 2;
  EXPECT_EQ(make_processor(1)->info().device, "Fake GPU (device 1)");
  EXPECT_THROW(make_processor(2), Error);
  runtime_.devices = 0;
  EXPECT_THROW(make_processor(-1), Error);
  EXPECT_EQ(probe().why_none, "no CUDA device was found");
}

// Fails the n-th call for every n that a run makes: one Error, no hang, no leak, and the processor works
// again.
TEST_F(CudaProcessorTest, AnySingleCallMayFail) {
  for (const int code : {2, 700, 999}) {
    for (int n = 1;; ++n) {
      runtime_.calls = 0;
      runtime_.fail_call = n;
      runtime_.fail_code = code;
      int errors = 0;
      try {
        processor().set_timing(n % 2 == 0);
        processor().configure(small, 3);
        std::vector<TestFrame> in, out;
        for (int i = 0; i < 6; ++i) {
          in.emplace_back(small, i).frame.memory = i < 3 ? MemoryKind::pinned : MemoryKind::pageable;
          out.emplace_back(small, 0).frame.memory = MemoryKind::pinned;
        }
        for (std::size_t i = 0; i < 9; ++i) {
          if (i >= 3) {
            processor().wait_input(i - 3);
            try {
              processor().wait(i - 3);
              EXPECT_TRUE(out[i - 3].holds(static_cast<int>(i) - 3 + 1));
            } catch (const Error& e) {
              ++errors;
              SCOPED_TRACE(e.what());
              EXPECT_LE(errors, 1);
            }
          }
          auto settings = settings_of({1, 0, 1});
          settings.common.noise_estimate = i % 3 == 2 ? NoiseEstimate::exact : NoiseEstimate::smoothed;
          if (i < 6) processor().submit(in[i].frame, out[i].frame, settings);
        }
        processor().drain();
      } catch (const Error&) {
        ++errors;
      }
      const bool reached = runtime_.calls >= n;
      runtime_.fail_call = 0;
      EXPECT_LE(errors, 1) << "call " << n;
      if (!reached) {
        EXPECT_EQ(errors, 0);
        EXPECT_GT(n, 40);
        break;
      }
      run(small, 2, 4, MemoryKind::pinned, settings_of({1, 0, 0}), [](int i) { return i + 1; });
      processor_.reset();
      ASSERT_EQ(runtime_.live(), 0U) << "after call " << n;
      ASSERT_EQ(runtime_.misuses, 0) << "after call " << n;
    }
  }
}

TEST_F(CudaProcessorTest, ErrorsNameCallPlaceAndRemedy) {
  const CudaError e(700, "cudaThing()", "/a/b/c.cpp", 42);
  EXPECT_EQ(e.place(), "c.cpp:42");
  EXPECT_EQ(e.fault(), Fault::lost);
  const std::string what = e.what();
  for (const auto* part : {"cudaThing()", "c.cpp:42", "restart the application"})
    EXPECT_NE(what.find(part), std::string::npos) << what;
}

}  // namespace
}  // namespace quietframe::cuda
