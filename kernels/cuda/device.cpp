// Asks the CUDA runtime which devices there are.
#include "cuda/device.hpp"

#include <cuda_runtime_api.h>

#include "processor.hpp"

namespace quietframe::cuda {

Probe probe() {
  Probe p;
  if (cudaDriverGetVersion(&p.driver_version) != cudaSuccess || p.driver_version == 0) {
    cudaGetLastError();
    p.why_none = "no NVIDIA driver is installed";
    return p;
  }
  cudaRuntimeGetVersion(&p.runtime_version);
  int count = 0;
  if (const auto code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    cudaGetLastError();
    p.why_none = std::string("the driver reports: ") + cudaGetErrorString(code);
    return p;
  }
  for (int id = 0; id < count; ++id) {
    cudaDeviceProp prop;
    if (cudaGetDeviceProperties(&prop, id) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    p.devices.push_back(
        {id, prop.name, prop.multiProcessorCount, prop.major, prop.minor, prop.totalGlobalMem});
  }
  if (p.devices.empty()) p.why_none = "no CUDA device was found";
  return p;
}

std::unique_ptr<Processor> make_processor(int) { throw Error("the CUDA processor is still to come"); }

void* host_alloc(std::size_t bytes) {
  void* p = nullptr;
  if (cudaHostAlloc(&p, bytes, cudaHostAllocPortable) == cudaSuccess) return p;
  cudaGetLastError();
  return nullptr;
}
void host_free(void* p) noexcept {
  if (cudaFreeHost(p) != cudaSuccess) cudaGetLastError();
}
bool host_memory_is_pinned() { return true; }

}  // namespace quietframe::cuda
