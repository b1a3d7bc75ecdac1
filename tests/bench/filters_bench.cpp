// Frames per second of every filter through a processor, as an element would drive it. Names are
// backend/program/filter/parameters/format/size/frames in flight; Google Benchmark's own flags select and
// format. usage: filters-bench [--backend=cpu|cuda] [--threads=N] [--benchmark_filter=REGEX] ...
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "processor.hpp"
#include "support/fill.hpp"
#include "support/settings_text.hpp"

namespace quietframe {
namespace {

using namespace test;

struct Work {
  const char *filter, *parameters;
  PixelFormat format;
  int width, height;
};

constexpr Work works[] = {
    {"gaussian", "sigma=0.9", PixelFormat::gray8, 640, 480},
    {"gaussian", "sigma=0.9", PixelFormat::gray8, 1920, 1080},
    {"gaussian", "sigma=3", PixelFormat::gray8, 1920, 1080},
    {"wavelet", "", PixelFormat::gray8, 640, 480},
    {"wavelet", "", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=1", PixelFormat::gray8, 640, 480},
    {"median", "radius=1", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=2", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=3", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=5", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=10", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=20", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=37", PixelFormat::gray8, 1920, 1080},
    {"median", "radius=1", PixelFormat::gray16_le, 1920, 1080},
    {"median", "radius=5", PixelFormat::gray16_le, 1920, 1080},
    {"median", "radius=20", PixelFormat::gray16_le, 1920, 1080},
    {"median", "radius=1", PixelFormat::nv12, 1920, 1080},
    {"bilateral", "sigma-range=30", PixelFormat::gray8, 640, 480},
    {"bilateral", "sigma-range=30", PixelFormat::gray8, 1920, 1080},
    {"bilateral", "sigma-range=30", PixelFormat::rgb, 1920, 1080},
    {"nlm", "h=20 search-radius=5", PixelFormat::gray8, 640, 480},
    {"nlm", "h=20", PixelFormat::gray8, 1920, 1080},
    {"nlm", "h=20", PixelFormat::rgb, 1920, 1080},
    {"nlm", "h=20", PixelFormat::nv12, 1920, 1080},
};

// The laws of growth of non-local means.
constexpr int patch_radii[] = {1, 2, 4, 6}, search_radii[] = {3, 5, 7, 10};
constexpr int frame_sizes[] = {256, 512, 1024, 2048, 4096};

struct Target {
  BackendRequest request{BackendChoice::cpu, -1, 0};
  CpuProgram program = CpuProgram::fastest;
  const char* name = "cpu";
};

std::unique_ptr<Processor> processor_for(const Target& target) {
  if (target.program == CpuProgram::definition)
    return make_cpu_processor(target.request.threads, target.program);
  return select_backend(target.request).processor;
}

void run(benchmark::State& state, const Target& target, const FrameSettings& settings,
         const FrameFormat& format, int slots) {
  const auto processor = processor_for(target);
  processor->configure(format, slots);
  std::vector<std::unique_ptr<GuardedFrame>> in, out;
  for (int i = 0; i < slots; ++i) {
    in.push_back(std::make_unique<GuardedFrame>(format, 0, std::byte{0}));
    out.push_back(std::make_unique<GuardedFrame>(format, 0, std::byte{0}));
    fill(in.back()->frame(), Fill::scene, static_cast<unsigned>(i), 20.f);
  }
  std::uint64_t submitted = 0, waited = 0;
  auto submit = [&] {
    const auto i = submitted++ % static_cast<std::uint64_t>(slots);
    processor->submit(in[i]->frame(), out[i]->frame(), settings);
  };
  for (int i = 0; i < slots; ++i) submit();
  for (auto _ : state) {
    processor->wait(waited++);
    submit();
  }
  while (waited < submitted) processor->wait(waited++);
  state.counters["frames/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["Mpixel/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * format.width * format.height * 1e-6,
                         benchmark::Counter::kIsRate);
}

void add(const Target& target, const std::string& filter, const std::string& parameters, PixelFormat pixels,
         int width, int height, int slots) {
  const FrameFormat format{pixels, width, height, 0};
  std::string name = std::string(target.name) + '/' + filter + '/' + parameters + '/' +
                     format_info(pixels).name + '/' + std::to_string(width) + 'x' + std::to_string(height) +
                     "/in-flight:" + std::to_string(slots);
  const auto settings = settings_from(filter, parameters);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { run(state, target, settings, format, slots); })
      ->MeasureProcessCPUTime()
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void add_growth(const Target& target) {
  for (const std::string how : {"direct", "box"}) {
    const std::string fixed = "h=20 implementation=" + how;
    for (const int r : patch_radii)
      add(target, "nlm", fixed + " patch-radius=" + std::to_string(r), PixelFormat::gray8, 512, 512, 2);
    for (const int r : search_radii)
      add(target, "nlm", fixed + " search-radius=" + std::to_string(r), PixelFormat::gray8, 512, 512, 2);
    for (const int n : frame_sizes)
      add(target, "nlm", fixed + " search-radius=3", PixelFormat::gray8, n, n, 2);
  }
}

void add_all(const Target& target) {
  for (const auto& w : works)
    for (const int slots : {1, 4}) add(target, w.filter, w.parameters, w.format, w.width, w.height, slots);
  add_growth(target);
}

}  // namespace
}  // namespace quietframe

int main(int argc, char** argv) {
  using namespace quietframe;
  benchmark::Initialize(&argc, argv);
  Target target;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--backend=cuda") == 0) {
      target.request.choice = BackendChoice::cuda;
      target.name = "cuda";
    } else if (std::strncmp(argv[i], "--threads=", 10) == 0) {
      target.request.threads = std::atoi(argv[i] + 10);
    } else if (std::strcmp(argv[i], "--backend=cpu") != 0) {
      std::fprintf(stderr,
                   "%s: unknown option %s (known: --backend=cpu|cuda, --threads=N, --benchmark_...)\n",
                   argv[0], argv[i]);
      return 2;
    }
  }
  try {
    processor_for(target);
    add_all(target);
    if (target.request.choice == BackendChoice::cpu) {
      target.program = CpuProgram::definition;
      target.name = "definition";
      for (const auto& w : works) add(target, w.filter, w.parameters, w.format, w.width, w.height, 4);
    }
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}
