// Frames in device memory for the GPU programs, and filters enqueued on them without a processor in between.
#pragma once
#include <cuda_runtime_api.h>

#include <span>
#include <stdexcept>
#include <string>

#include "cuda/job.hpp"
#include "settings.hpp"
#include "support/guarded_frame.hpp"

namespace quietframe::test {

inline void cuda_check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}
#define GPU(call) ::quietframe::test::cuda_check(call, #call)

/// A guarded frame's copy in device memory.
class DeviceFrame {
 public:
  explicit DeviceFrame(GuardedFrame& host) : host_(host), frame_(host.frame()) {
    GPU(cudaMalloc(reinterpret_cast<void**>(&data_), host.bytes().size()));
    for (auto& p : frame_.plane)
      if (p) p = data_ + (p - host.bytes().data());
    frame_.memory = MemoryKind::device;
    upload();
  }
  ~DeviceFrame() { cudaFree(data_); }
  DeviceFrame(const DeviceFrame&) = delete;
  DeviceFrame& operator=(const DeviceFrame&) = delete;

  const Frame& frame() const { return frame_; }
  void upload() {
    GPU(cudaMemcpy(data_, host_.bytes().data(), host_.bytes().size(), cudaMemcpyHostToDevice));
  }
  void download() {
    GPU(cudaMemcpy(host_.bytes().data(), data_, host_.bytes().size(), cudaMemcpyDeviceToHost));
  }

 private:
  GuardedFrame& host_;
  std::byte* data_ = nullptr;
  Frame frame_;
};

/// Scratch for one filter at a time. Made on first use, which is not during a capture.
inline constexpr std::size_t device_scratch_bytes = 64U << 20;
inline std::byte* device_scratch() {
  static std::byte* const scratch = [] {
    void* p = nullptr;
    GPU(cudaMalloc(&p, device_scratch_bytes));
    return static_cast<std::byte*>(p);
  }();
  return scratch;
}

/// Enqueues the filter of `settings` for every group, with noise-sigma as the sigma of every channel.
inline void enqueue(const FrameSettings& settings, const Frame& in, std::span<const Frame> past,
                    const Frame& out, cudaStream_t stream) {
  for (int g = 0; g < format_info(in.format.format).groups; ++g) {
    std::array<GroupView, max_history> before;
    for (std::size_t i = 0; i < past.size(); ++i) before[i] = group_view(past[i], g);
    CudaJob job;
    job.in = group_view(in, g);
    job.out = group_view(out, g);
    job.past = std::span(before).first(past.size());
    job.sigma.fixed.fill(settings.common.noise_sigma);
    job.strength = settings.common.strength;
    job.stream = stream;
    const CudaShape shape{job.in.width, job.in.height, job.in.channels, job.in.type};
    job.scratch_bytes = settings.filter->cuda_scratch(shape);
    if (job.scratch_bytes > device_scratch_bytes)
      throw std::runtime_error("the filter asks for more scratch than the tests have");
    job.scratch = device_scratch();
    settings.filter->run_cuda(job, settings.params.data());
  }
}

}  // namespace quietframe::test
