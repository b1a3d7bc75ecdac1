// Measures the CUDA processor on a GPU: throughput at each depth beside the same copies alone, latency of a
// live feed, which part of a frame waits for which, and whether a long life leaves anything behind. Usage:
// processor-bench throughput|slices|latency|timeline|churn [arguments]
#include <cuda_runtime_api.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "cuda/cuda_processor.hpp"
#include "cuda/error.hpp"
#include "pinned_frame.hpp"
#include "support/fill.hpp"

namespace quietframe {
namespace {

using namespace test;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

double cpu_seconds() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

struct Case {
  const char* name;
  FrameFormat format;
};
constexpr Case cases[] = {{"512x512 GRAY8", {PixelFormat::gray8, 512, 512, 0}},
                          {"1080p NV12", {PixelFormat::nv12, 1920, 1080, 0}},
                          {"4K NV12", {PixelFormat::nv12, 3840, 2160, 0}}};

/// Pairs of frames that a loop rotates over, as a buffer pool would.
struct Frames {
  std::vector<std::unique_ptr<PinnedFrame>> in, out;

  Frames(const FrameFormat& format, int count) {
    for (int i = 0; i < count; ++i) {
      in.push_back(std::make_unique<PinnedFrame>(format));
      out.push_back(std::make_unique<PinnedFrame>(format));
      if (i == 0)
        fill(in[0]->frame(), Fill::scene, 1);
      else
        std::memcpy(in.back()->frame().plane[0], in[0]->frame().plane[0],
                    pack_frame(format, nullptr, nullptr));
    }
  }
  const Frame& input(std::size_t i) const { return in[i % in.size()]->frame(); }
  const Frame& output(std::size_t i) const { return out[i % out.size()]->frame(); }
};

struct Rate {
  double us_per_frame = 0;
  double cpu_percent = 0;
  double submit_us = 0, wait_us = 0;  ///< of the calling thread, a frame
};

/// Runs `submit(n)` and `wait(n)` with `depth` frames in flight, a fifth of them to warm up.
template <class Submit, class Wait>
Rate measure(std::size_t count, std::size_t depth, Submit&& submit, Wait&& wait) {
  Clock::time_point start;
  Clock::duration submitting{}, waiting{};
  double cpu = 0;
  for (std::size_t n = 0; n < count + depth; ++n) {
    const auto begin = Clock::now();
    if (n >= depth) wait(n - depth);
    const auto waited = Clock::now();
    if (n == count / 5) start = waited, cpu = cpu_seconds(), submitting = waiting = {};
    if (n < count) submit(n);
    if (n > count / 5) waiting += waited - begin;
    if (n >= count / 5) submitting += Clock::now() - waited;
  }
  const double us = microseconds(Clock::now() - start), frames = static_cast<double>(count - count / 5);
  return {us / frames, (cpu_seconds() - cpu) * 1e8 / us, microseconds(submitting) / frames,
          microseconds(waiting) / frames};
}

/// The copies alone, by the copy engines: upload and download of the same frames in a graph for each slot,
/// polled without a pause.
Rate copy_floor(const Frames& frames, std::size_t bytes, std::size_t count, std::size_t depth) {
  using namespace cuda;
  struct Slot {
    Stream stream = make_stream();
    Event done = make_event(EventKind::ordering);
    DeviceMemory memory;
    Graph graph;
    GraphExec exec;
    cudaGraphNode_t up = nullptr, down = nullptr;
  };
  std::vector<Slot> slots(depth);
  for (auto& s : slots) {
    s.memory = allocate_device(bytes);
    cudaGraph_t graph = nullptr;
    QF_CUDA_CHECK(cudaGraphCreate(&graph, 0));
    s.graph.reset(graph);
    QF_CUDA_CHECK(cudaGraphAddMemcpyNode1D(&s.up, graph, nullptr, 0, s.memory.get(), frames.input(0).plane[0],
                                           bytes, cudaMemcpyHostToDevice));
    QF_CUDA_CHECK(cudaGraphAddMemcpyNode1D(&s.down, graph, &s.up, 1, frames.output(0).plane[0],
                                           s.memory.get(), bytes, cudaMemcpyDeviceToHost));
    cudaGraphExec_t exec = nullptr;
    QF_CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    s.exec.reset(exec);
  }
  return measure(
      count, depth,
      [&](std::size_t n) {
        auto& s = slots[n % depth];
        QF_CUDA_CHECK(cudaGraphExecMemcpyNodeSetParams1D(
            s.exec.get(), s.up, s.memory.get(), frames.input(n).plane[0], bytes, cudaMemcpyHostToDevice));
        QF_CUDA_CHECK(cudaGraphExecMemcpyNodeSetParams1D(s.exec.get(), s.down, frames.output(n).plane[0],
                                                         s.memory.get(), bytes, cudaMemcpyDeviceToHost));
        QF_CUDA_CHECK(cudaGraphLaunch(s.exec.get(), s.stream.get()));
        QF_CUDA_CHECK(cudaEventRecord(s.done.get(), s.stream.get()));
      },
      [&](std::size_t n) {
        for (bool done = false; !done;)
          QF_CUDA_CHECK(runtime().event_query(slots[n % depth].done.get(), &done));
      });
}

Rate processor_rate(Processor& processor, const FrameSettings& settings, const Frames& frames,
                    const FrameFormat& format, std::size_t count, int depth) {
  processor.configure(format, depth);
  return measure(
      count, static_cast<std::size_t>(depth),
      [&](std::size_t n) { processor.submit(frames.input(n), frames.output(n), settings); },
      [&](std::size_t n) { processor.wait(n); });
}

/// A filter at its defaults; "NAME:smoothed" with the smoothed noise estimate. False where CUDA has no such.
bool settings_named(const std::string& name, FrameSettings& settings) {
  const auto colon = name.find(':');
  const auto* filter = find_filter(name.substr(0, colon));
  settings = filter ? default_settings(*filter) : FrameSettings{};
  if (colon != std::string::npos) settings.common.noise_estimate = NoiseEstimate::smoothed;
  return name == "none" || (filter && filter->run_cuda);
}

/// A set of slices, each in memory of its own, from host memory to host memory.
int slices(Processor& processor, int argc, char** argv) {
  const auto count = static_cast<std::size_t>(argc > 0 ? std::atoi(argv[0]) : 3064);
  const auto& format = cases[0].format;
  const auto bytes = pack_frame(format, nullptr, nullptr);
  const Frames frames(format, static_cast<int>(count));
  for (std::size_t i = 0; i < count; ++i)
    if (i < 64)
      fill(frames.input(i), Fill::scene, static_cast<unsigned>(i), 5.f + static_cast<float>(i % 21));
    else
      std::memcpy(frames.input(i).plane[0], frames.input(i % 64).plane[0], bytes);
  std::printf("%zu slices of 512x512, host memory to host memory\n%-18s %5s %12s %10s %12s %10s\n", count,
              "filter", "depth", "images/s", "us/image", "floor us", "x floor");
  for (const int depth : {1, 4, 8, 16}) {
    const auto floor = copy_floor(frames, bytes, count, static_cast<std::size_t>(depth));
    for (const std::string name : {"wavelet", "wavelet:smoothed"}) {
      FrameSettings settings;
      if (!settings_named(name, settings)) continue;
      const auto rate = processor_rate(processor, settings, frames, format, count, depth);
      std::printf("%-18s %5d %12.0f %10.2f %12.2f %10.2f\n", name.c_str(), depth, 1e6 / rate.us_per_frame,
                  rate.us_per_frame, floor.us_per_frame, rate.us_per_frame / floor.us_per_frame);
      std::fflush(stdout);
    }
  }
  return 0;
}

int throughput(Processor& processor, int argc, char** argv) {
  std::vector<std::string> names(argv, argv + argc);
  if (names.empty()) names = {"gaussian", "wavelet", "wavelet:smoothed"};
  std::printf("%-14s %-18s %5s %10s %10s %8s %8s %6s\n", "frames", "filter", "depth", "us/frame", "floor us",
              "of floor", "x depth1", "CPU %");
  for (const auto& c : cases) {
    const auto bytes = pack_frame(c.format, nullptr, nullptr);
    const Frames frames(c.format, 20);
    const std::size_t count = std::clamp<std::size_t>(std::size_t{400'000'000} / bytes * 5, 600, 15000);
    for (const int depth : {1, 2, 3, 4, 8}) {
      const auto floor = copy_floor(frames, bytes, count, static_cast<std::size_t>(depth));
      for (const auto& name : names) {
        FrameSettings settings;
        if (!settings_named(name, settings)) continue;
        const auto rate = processor_rate(processor, settings, frames, c.format, count, depth);
        const auto one =
            depth == 1 ? rate : processor_rate(processor, settings, frames, c.format, count / 2, 1);
        std::printf("%-14s %-18s %5d %10.1f %10.1f %8.2f %8.2f %6.0f\n", c.name, name.c_str(), depth,
                    rate.us_per_frame, floor.us_per_frame, floor.us_per_frame / rate.us_per_frame,
                    one.us_per_frame / rate.us_per_frame, rate.cpu_percent);
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

/// Where the time of a frame goes: the calling thread's share, and the GPU's parts by events of their own.
int timeline(Processor& processor, int argc, char** argv) {
  const std::string name = argc > 0 ? argv[0] : "gaussian";
  const auto& c = cases[argc > 1 ? std::clamp(std::atoi(argv[1]), 0, 2) : 0];
  FrameSettings settings;
  if (!settings_named(name, settings)) return std::printf("no CUDA program of that filter\n"), 1;
  const auto bytes = pack_frame(c.format, nullptr, nullptr);
  const Frames frames(c.format, 20);
  const std::size_t count = std::clamp<std::size_t>(std::size_t{400'000'000} / bytes * 5, 600, 15000);
  std::printf(
      "%s %s, microseconds a frame. submit, wait: the calling thread. in flight: depth x frame, from submit "
      "to "
      "the end of\nwait. GPU parts: by timing events in the graph, which make that run slower (events). "
      "rest: "
      "in flight less the GPU parts,\nthat is launch, queueing behind other frames and waking.\n"
      "%-8s %5s %8s %8s %8s %10s %8s %8s %8s %8s %8s\n",
      c.name, name.c_str(), "what", "depth", "frame", "submit", "wait", "in flight", "upload", "kernels",
      "download", "rest", "events");
  for (const int depth : {1, 2, 3, 4, 8}) {
    const auto floor = copy_floor(frames, bytes, count, static_cast<std::size_t>(depth));
    std::printf("%-8s %5d %8.1f %8.1f %8.1f %10.1f\n", "floor", depth, floor.us_per_frame, floor.submit_us,
                floor.wait_us, depth * floor.us_per_frame);
    const auto rate = processor_rate(processor, settings, frames, c.format, count, depth);
    processor.set_timing(true);
    processor.configure(c.format, depth);
    double part[3] = {};
    const auto timed = measure(
        count, static_cast<std::size_t>(depth),
        [&](std::size_t n) { processor.submit(frames.input(n), frames.output(n), settings); },
        [&](std::size_t n) {
          const auto report = processor.wait(n);
          part[0] += report.upload_us, part[1] += report.kernel_us, part[2] += report.download_us;
        });
    processor.set_timing(false);
    for (auto& p : part) p /= static_cast<double>(count);
    std::printf("%-8s %5d %8.1f %8.1f %8.1f %10.1f %8.1f %8.1f %8.1f %8.1f %8.1f\n", "ours", depth,
                rate.us_per_frame, rate.submit_us, rate.wait_us, depth * rate.us_per_frame, part[0], part[1],
                part[2], depth * timed.us_per_frame - part[0] - part[1] - part[2], timed.us_per_frame);
    std::fflush(stdout);
  }
  return 0;
}

/// Frames at a fixed rate; one thread submits, another waits, as the element's two threads do.
int latency(Processor& processor, int argc, char** argv) {
  const auto* filter = find_filter(argc > 0 ? argv[0] : "gaussian");
  const double rate = argc > 1 ? std::atof(argv[1]) : 60;
  const auto count = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 1200);
  const auto& c = cases[argc > 3 ? std::atoi(argv[3]) : 1];
  if (!filter || !filter->run_cuda) return std::printf("no CUDA program of that filter\n"), 1;
  const Frames frames(c.format, 16);
  const auto settings = default_settings(*filter);
  processor.configure(c.format, 4);
  std::mutex mutex;
  std::condition_variable wake;
  std::size_t submitted = 0;
  std::vector<Clock::time_point> sent(count);
  std::vector<double> took(count);
  std::thread waiter([&] {
    for (std::size_t n = 0; n < count; ++n) {
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return submitted > n; });
      }
      processor.wait(n);
      took[n] = microseconds(Clock::now() - sent[n]);
    }
  });
  const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / rate));
  const auto start = Clock::now();
  const double cpu = cpu_seconds();
  for (std::size_t n = 0; n < count; ++n) {
    std::this_thread::sleep_until(start + period * n);
    sent[n] = Clock::now();
    processor.submit(frames.input(n), frames.output(n), settings);
    const std::lock_guard lock(mutex);
    ++submitted;
    wake.notify_one();
  }
  waiter.join();
  const double seconds = microseconds(Clock::now() - start) * 1e-6, used = cpu_seconds() - cpu;
  std::sort(took.begin(), took.end());
  std::printf(
      "%s %s at %.0f frames/s, %zu frames: latency p50 %.0f us, p99 %.0f us, max %.0f us; CPU %.1f %% of a "
      "core\n",
      c.name, filter->name, rate, count, took[count / 2], took[count * 99 / 100], took.back(),
      100 * used / seconds);
  return 0;
}

struct Footprint {
  std::size_t device_free = 0;
  long resident_kib = 0, threads = 0;
};

Footprint footprint() {
  Footprint f;
  cuda::runtime().memory_free(&f.device_free);
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    if (key == "VmRSS:") status >> f.resident_kib;
    if (key == "Threads:") status >> f.threads;
  }
  return f;
}

/// Starts and stops, and caps changes; prints what the process and the device hold on the way.
int churn(int argc, char** argv) {
  const int starts = argc > 0 ? std::atoi(argv[0]) : 1000, changes = argc > 1 ? std::atoi(argv[1]) : 200;
  const auto* filter = find_filter("gaussian");
  const auto settings = filter && filter->run_cuda ? default_settings(*filter) : FrameSettings{};
  auto use = [&](Processor& p, const FrameFormat& format, MemoryKind kind) {
    static std::vector<std::unique_ptr<PinnedFrame>> kept;
    kept.clear();
    for (int i = 0; i < 2; ++i) kept.push_back(std::make_unique<PinnedFrame>(format));
    Frame in = kept[0]->frame(), out = kept[1]->frame();
    in.memory = out.memory = kind;
    p.configure(format, 4);
    for (int i = 0; i < 6; ++i) p.wait(p.submit(in, out, settings));
  };
  auto show = [](const char* what, int n) {
    const auto f = footprint();
    std::printf("%-6s %5d: device free %zu MiB, resident %ld MiB, threads %ld\n", what, n,
                f.device_free >> 20, f.resident_kib >> 10, f.threads);
  };
  for (int i = 0; i <= starts; ++i) {
    auto processor = cuda::make_processor(-1);
    use(*processor, {PixelFormat::nv12, 640, 480, 0}, i % 2 ? MemoryKind::pinned : MemoryKind::pageable);
    processor.reset();
    if (i == 10 || i == starts / 2 || i == starts) show("start", i);
  }
  auto processor = cuda::make_processor(-1);
  for (int i = 0; i <= changes; ++i) {
    const auto format = static_cast<PixelFormat>(i % 10);
    use(*processor, {format, 320 + 37 * (i % 11), 240 + 29 * (i % 7), 0},
        i % 3 ? MemoryKind::pinned : MemoryKind::pageable);
    if (i == 77 || i == changes / 2 || i == changes) show("caps", i);
  }
  return 0;
}

}  // namespace
}  // namespace quietframe

int main(int argc, char** argv) {
  using namespace quietframe;
  const std::string mode = argc > 1 ? argv[1] : "";
  try {
    if (mode == "churn") return churn(argc - 2, argv + 2);
    const auto processor = cuda::make_processor(-1);
    if (mode == "throughput") return throughput(*processor, argc - 2, argv + 2);
    if (mode == "slices") return slices(*processor, argc - 2, argv + 2);
    if (mode == "latency") return latency(*processor, argc - 2, argv + 2);
    if (mode == "timeline") return timeline(*processor, argc - 2, argv + 2);
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 77;
  }
  std::fprintf(stderr,
               "usage: processor-bench throughput [filter[:smoothed]...] | slices [count] | latency [filter "
               "[frames/s [frames [case]]]] | "
               "timeline [filter [case]] | churn [starts [caps-changes]]\n");
  return 2;
}
