// Kernel times of gaussian, bilateral and nlm: medians of graph replays over rotating device buffers, beside
// the bound of the unit that each is short of, at the SM clock read in the same run. "growth" prints nlm's
// growth laws as CSV instead. Without a GPU it exits with 77.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "clock.hpp"
#include "cuda/device.hpp"
#include "device_frame.hpp"
#include "filters/bilateral/params.hpp"
#include "filters/nlm/params.hpp"
#include "support/fill.hpp"
#include "support/settings_text.hpp"

namespace quietframe::test {
namespace {

struct Timing {
  double us, ghz;
};

/// Buffers that together exceed the L2 cache, or sixteen pairs.
class Bench {
 public:
  explicit Bench(const FrameFormat& format) : host_(format, 0, std::byte{0}) {
    fill(host_.frame(), Fill::scene, 1);
    constexpr std::size_t beyond_cache = 160U << 20;
    const auto pairs = std::clamp<std::size_t>(beyond_cache / (2 * host_.bytes().size()), 4, 16);
    for (std::size_t i = 0; i < 2 * pairs; ++i) frames_.push_back(std::make_unique<DeviceFrame>(host_));
    device_scratch();
    GPU(cudaStreamCreate(&stream_));
    GPU(cudaEventCreate(&begin_));
    GPU(cudaEventCreate(&end_));
    GPU(cudaHostAlloc(reinterpret_cast<void**>(&ghz_), sizeof *ghz_, cudaHostAllocMapped));
  }
  ~Bench() {
    cudaFreeHost(ghz_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Timing measure(const FrameSettings& settings) {
    const double rough = replay(settings, 4, 3).us;
    const int launches = std::clamp(static_cast<int>(3000 / rough), 2, 48);
    return replay(settings, launches, launches > 4 ? 15 : 5);
  }

 private:
  Timing replay(const FrameSettings& settings, int launches, int replays) {
    const int count = settings.filter->history(settings.params.data());
    const auto pairs = frames_.size() / 2;
    GPU(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < launches; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) % pairs;
      std::vector<Frame> past;
      for (int f = 1; f <= count; ++f)
        past.push_back(frames_[2 * ((at + static_cast<std::size_t>(f)) % pairs)]->frame());
      enqueue(settings, frames_[2 * at]->frame(), past, frames_[2 * at + 1]->frame(), stream_);
    }
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    GPU(cudaStreamEndCapture(stream_, &graph));
    GPU(cudaGraphInstantiate(&exec, graph, 0));
    std::vector<double> times;
    for (int r = -1; r < replays; ++r) {
      GPU(cudaEventRecord(begin_, stream_));
      GPU(cudaGraphLaunch(exec, stream_));
      GPU(cudaEventRecord(end_, stream_));
      enqueue_clock(ghz_, stream_);
      GPU(cudaStreamSynchronize(stream_));
      float ms;
      GPU(cudaEventElapsedTime(&ms, begin_, end_));
      if (r >= 0) times.push_back(1e3 * static_cast<double>(ms) / launches);
    }
    GPU(cudaGraphExecDestroy(exec));
    GPU(cudaGraphDestroy(graph));
    std::ranges::sort(times);
    return {times[times.size() / 2], *ghz_};
  }

  GuardedFrame host_;
  std::vector<std::unique_ptr<DeviceFrame>> frames_;
  cudaStream_t stream_;
  cudaEvent_t begin_, end_;
  double* ghz_;
};

/// Least time on the unit that limits the filter, were nothing else to do. nlm: issue slots, 9 for a pixel
/// and displacement of one channel, 12.5 of two and 16 of three; bilateral: exp2 units, 16 a clock and SM.
double bound_us(const FrameSettings& s, const FrameFormat& format, double ghz) {
  const auto device = cuda::probe().devices.at(0);
  double work = 0;
  const auto& info = format_info(format.format);
  for (int g = 0; g < info.groups; ++g) {
    const auto& group = info.group[g];
    const double pixels =
        static_cast<double>(group_width(group, format.width)) * group_height(group, format.height);
    if (std::strcmp(s.filter->name, "nlm") == 0) {
      nlm::Params p;
      std::memcpy(&p, s.params.data(), sizeof p);
      const double window = (2.0 * p.search_radius + 1) * (2.0 * p.search_radius + 1);
      work += pixels * (window * (1 + p.temporal_radius) - 1) * (5.5 + 3.5 * group.channels) / 128;
    } else if (std::strcmp(s.filter->name, "bilateral") == 0) {
      bilateral::Params p;
      std::memcpy(&p, s.params.data(), sizeof p);
      const double side = 2.0 * bilateral::radius(p) + 1;
      work += pixels * side * side / 16;
    }
  }
  return work / device.multiprocessors / ghz / 1e3;
}

struct Row {
  const char* filter;
  const char* settings;
  PixelFormat format;
  int width, height;
};
using P = PixelFormat;
constexpr Row rows[] = {
    {"gaussian", "", P::gray8, 512, 512},
    {"gaussian", "", P::gray8, 1920, 1080},
    {"gaussian", "", P::gray8, 3840, 2160},
    {"gaussian", "sigma=2", P::gray8, 1920, 1080},
    {"gaussian", "sigma=10", P::gray8, 1920, 1080},
    {"gaussian", "", P::gray16_le, 1920, 1080},
    {"gaussian", "", P::gray_f32, 1920, 1080},
    {"gaussian", "", P::nv12, 1920, 1080},
    {"gaussian", "", P::rgb, 1920, 1080},
    {"gaussian", "", P::bgrx, 1920, 1080},
    {"bilateral", "sigma-range=30", P::gray8, 512, 512},
    {"bilateral", "sigma-range=30", P::gray8, 1920, 1080},
    {"bilateral", "sigma-range=30", P::gray8, 3840, 2160},
    {"bilateral", "sigma-range=30 sigma-space=1.3", P::gray8, 3840, 2160},
    {"bilateral", "sigma-range=30", P::gray16_le, 1920, 1080},
    {"bilateral", "sigma-range=30", P::nv12, 1920, 1080},
    {"bilateral", "sigma-range=30", P::rgb, 1920, 1080},
    {"nlm", "h=10", P::gray8, 512, 512},
    {"nlm", "h=10", P::gray8, 1920, 1080},
    {"nlm", "h=10", P::gray8, 3840, 2160},
    {"nlm", "h=10 implementation=box", P::gray8, 512, 512},
    {"nlm", "h=10 implementation=box", P::gray8, 1920, 1080},
    {"nlm", "h=10 implementation=direct", P::gray8, 1920, 1080},
    {"nlm", "h=10", P::gray16_le, 1920, 1080},
    {"nlm", "h=10", P::gray_f32, 1920, 1080},
    {"nlm", "h=10", P::p010_10le, 1920, 1080},
    {"nlm", "h=10", P::nv12, 1920, 1080},
    {"nlm", "h=10", P::nv12, 3840, 2160},
    {"nlm", "h=10", P::rgb, 512, 512},
    {"nlm", "h=10", P::rgb, 1920, 1080},
    {"nlm", "h=10", P::bgrx, 1920, 1080},
    {"nlm", "h=10 implementation=box", P::rgb, 1920, 1080},
    {"nlm", "h=10", P::rgb_f32, 1920, 1080},
    {"nlm", "h=10 centre-weight=max", P::gray8, 1920, 1080},
    {"nlm", "h=10 sigma=5", P::gray8, 1920, 1080},
    {"nlm", "h=10 temporal-radius=1", P::gray8, 1920, 1080},
    {"nlm", "h=10 temporal-radius=3 search-radius=3", P::gray8, 1920, 1080},
};

void time_rows(const char* only) {
  std::printf("%-9s %-40s %-10s %-10s %9s %9s %6s %6s\n", "filter", "settings", "format", "size", "us",
              "bound us", "ratio", "GHz");
  for (const auto& r : rows) {
    if (only && std::strcmp(only, r.filter) != 0) continue;
    const FrameFormat format{r.format, r.width, r.height, 0};
    const auto s = settings_from(r.filter, r.settings);
    const auto t = Bench(format).measure(s);
    const double bound = bound_us(s, format, t.ghz);
    std::printf("%-9s %-40s %-10s %4dx%-5d %9.1f %9.1f %6.2f %6.3f\n", r.filter, r.settings,
                format_info(r.format).name, r.width, r.height, t.us, bound, bound > 0 ? t.us / bound : 0.,
                t.ghz);
    std::fflush(stdout);
  }
}

void print_growth() {
  std::printf("law,format,implementation,patch_radius,search_radius,width,height,us,ghz\n");
  auto line = [](const char* law, Bench& bench, const FrameFormat& f, const char* implementation, int patch,
                 int search) {
    const auto s = settings_from("nlm", "h=10 patch-radius=" + std::to_string(patch) + " search-radius=" +
                                            std::to_string(search) + " implementation=" + implementation);
    const auto t = bench.measure(s);
    std::printf("%s,%s,%s,%d,%d,%d,%d,%.1f,%.3f\n", law, format_info(f.format).name, implementation, patch,
                search, f.width, f.height, t.us, t.ghz);
    std::fflush(stdout);
  };
  for (const auto format : {P::gray8, P::rgb, P::gray16_le}) {
    const FrameFormat f{format, 512, 512, 0};
    Bench bench(f);
    for (const char* implementation : {"direct", "box"}) {
      for (const int patch : {1, 2, 4, 6}) line("patch", bench, f, implementation, patch, 7);
      for (const int search : {3, 5, 7, 10}) line("search", bench, f, implementation, 2, search);
    }
  }
  for (const int size : {256, 512, 1024, 2048, 4096}) {
    const FrameFormat f{P::gray8, size, size, 0};
    Bench bench(f);
    for (const char* implementation : {"direct", "box"}) line("size", bench, f, implementation, 2, 7);
  }
}

int run(int argc, char** argv) {
  if (cuda::probe().devices.empty()) {
    std::printf("skipped: %s\n", cuda::probe().why_none.c_str());
    return 77;
  }
  if (argc > 1 && std::strcmp(argv[1], "growth") == 0)
    print_growth();
  else
    time_rows(argc > 1 ? argv[1] : nullptr);
  return 0;
}

}  // namespace
}  // namespace quietframe::test

int main(int argc, char** argv) {
  try {
    return quietframe::test::run(argc, argv);
  } catch (const std::exception& e) {
    std::printf("FAILED %s\n", e.what());
    return 1;
  }
}
