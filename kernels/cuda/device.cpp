// Asks the CUDA runtime which devices there are, and opens one.
#include "cuda/device.hpp"

#include <string>

#include "cuda/cuda_processor.hpp"
#include "cuda/error.hpp"
#include "cuda/runtime.hpp"

namespace quietframe::cuda {

bool built_with_cuda() { return runtime().pins_host_memory(); }

Probe probe() {
  auto& r = runtime();
  Probe p;
  int count = 0, code = r.driver_version(&p.driver_version);
  if (code != 0 || p.driver_version == 0) {
    r.take_last_error();
    p.why_none = r.pins_host_memory() ? "no NVIDIA driver is installed" : r.error_text(code);
    return p;
  }
  r.runtime_version(&p.runtime_version);
  if (code = r.device_count(&count); code != 0) {
    r.take_last_error();
    p.why_none = std::string("the driver reports: ") + r.error_text(code);
    return p;
  }
  for (int id = 0; id < count; ++id) {
    Device device;
    if (r.device(id, &device) == 0)
      p.devices.push_back(std::move(device));
    else
      r.take_last_error();
  }
  if (p.devices.empty()) p.why_none = "no CUDA device was found";
  return p;
}

std::unique_ptr<Processor> make_processor(int id) {
  auto found = probe();
  if (found.devices.empty()) throw Error("the CUDA backend cannot be used: " + found.why_none);
  for (auto& device : found.devices)
    if (id < 0 || device.id == id) return std::make_unique<CudaProcessor>(std::move(device));
  throw Error("CUDA device " + std::to_string(id) + " does not exist; there " +
              (found.devices.size() == 1
                   ? "is one, number 0"
                   : "are " + std::to_string(found.devices.size()) + ", numbered from 0") +
              ". Use -1 for the first.");
}

}  // namespace quietframe::cuda
