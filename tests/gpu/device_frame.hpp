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
    settings.filter->run_cuda(job, settings.params.data());
  }
}

}  // namespace quietframe::test
