// Times the CUDA median at 3840x2160 for every odd window, type and method, as CSV: the median of graph
// replays over rotating buffers. Arguments: first and last window, step.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "filters/median/cuda_methods.hpp"

namespace quietframe::testing {
namespace {

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(code));
  std::exit(2);
}

// Input and output frames: together several times the L2 cache.
constexpr int buffers = 12;
constexpr FrameFormat size_of_frame(PixelFormat format) { return {format, 3840, 2160, 0}; }

class Sweep {
 public:
  explicit Sweep(PixelFormat format) : format_(size_of_frame(format)) {
    bytes_ = pack_frame(format_, nullptr, nullptr);
    std::vector<std::byte> host(bytes_);
    fill(host);
    for (auto& p : in_) {
      check(cudaMalloc(&p, bytes_), "cudaMalloc");
      check(cudaMemcpy(p, host.data(), bytes_, cudaMemcpyDefault), "upload");
    }
    for (auto& p : out_) check(cudaMalloc(&p, bytes_), "cudaMalloc");
    check(cudaStreamCreate(&stream_), "stream");
    check(cudaEventCreate(&start_), "event");
    check(cudaEventCreate(&stop_), "event");
  }
  ~Sweep() {
    for (auto* p : in_) cudaFree(p);
    for (auto* p : out_) cudaFree(p);
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  SampleType type() const { return format_info(format_.format).type; }

  /// Microseconds a frame.
  double time(median::Method method, const median::Window& window) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
    for (int i = 0; i < buffers; ++i) {
      Frame in, out;
      pack_frame(format_, in_[i], &in);
      pack_frame(format_, out_[i], &out);
      median::run_method(method, {group_view(in, 0), group_view(out, 0), window, 1.f}, stream_);
    }
    check(cudaStreamEndCapture(stream_, &graph), "capture");
    check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    std::vector<float> times;
    float total = 0;
    for (int i = 0; i < 12 && (i < 2 || total < 30); ++i) {
      check(cudaEventRecord(start_, stream_), "record");
      check(cudaGraphLaunch(exec, stream_), "launch");
      check(cudaEventRecord(stop_, stream_), "record");
      check(cudaEventSynchronize(stop_), to_string(method));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, start_, stop_), "elapsed");
      if (i > 0) times.push_back(ms);  // the first replay uploads the graph
      total += ms;
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    return 1e3 * static_cast<double>(times[times.size() / 2]) / buffers;
  }

 private:
  void fill(std::vector<std::byte>& host) const {
    std::mt19937 random(1);
    if (type() == SampleType::f32) {
      auto* p = reinterpret_cast<float*>(host.data());
      for (std::size_t i = 0; i < bytes_ / 4; ++i)
        p[i] = static_cast<float>(random()) * (255.f / 4294967296.f);
    } else {
      auto* p = reinterpret_cast<std::uint32_t*>(host.data());
      for (std::size_t i = 0; i < bytes_ / 4; ++i) p[i] = static_cast<std::uint32_t>(random());
    }
  }

  FrameFormat format_;
  std::size_t bytes_ = 0;
  std::array<std::byte*, buffers> in_{}, out_{};
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace
}  // namespace quietframe::testing

int main(int argc, char** argv) {
  using namespace quietframe;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no CUDA device: skipped\n");
    return 77;
  }
  const int first = argc > 1 ? std::atoi(argv[1]) : 3,
            last = argc > 2 ? std::atoi(argv[2]) : median::max_window;
  const int step = argc > 3 ? std::atoi(argv[3]) : 2;
  std::printf("k,type,method,us,gpix_per_s,chosen\n");
  for (const auto format : {PixelFormat::gray8, PixelFormat::gray16_le, PixelFormat::gray_f32}) {
    testing::Sweep sweep(format);
    for (int k = first; k <= last; k += step)
      for (const auto method : median::all_methods) {
        const median::Window window{k, k, (k * k - 1) / 2};
        if (!median::can_run(method, window, sweep.type())) continue;
        const double us = sweep.time(method, window);
        std::printf("%d,%s,%s,%.2f,%.3f,%d\n", k,
                    sweep.type() == SampleType::u8    ? "u8"
                    : sweep.type() == SampleType::f32 ? "f32"
                                                      : "u16",
                    to_string(method), us, 3840 * 2160 / us * 1e-3,
                    method == median::method_for(window, sweep.type()));
        std::fflush(stdout);
      }
  }
  return 0;
}
