// Chooses the backend that a request can be met with, and says why.
#include "cuda/device.hpp"
#include "processor.hpp"

namespace quietframe {

const char* to_string(MemoryPath path) {
  switch (path) {
    case MemoryPath::host:
      return "host";
    case MemoryPath::device:
      return "device";
    case MemoryPath::direct:
      return "direct";
    case MemoryPath::staged:
      return "staged";
  }
  return "unknown";
}

SelectedBackend select_backend(const BackendRequest& request) {
  auto use_cpu = [&](const std::string& why) {
    auto processor = make_cpu_processor(request.threads);
    auto reason = "CPU backend, " + processor->info().device + why;
    return SelectedBackend{std::move(processor), std::move(reason)};
  };
  if (request.choice == BackendChoice::cpu) return use_cpu(", as asked for");

  const auto probe = cuda::probe();
  if (probe.devices.empty()) {
    if (request.choice == BackendChoice::cuda)
      throw Error("backend=cuda cannot be used: " + probe.why_none +
                  ". Use backend=auto or backend=cpu to run on the CPU.");
    return use_cpu(", because CUDA cannot be used: " + probe.why_none);
  }
  auto processor = cuda::make_processor(request.cuda_device);
  auto reason = "CUDA backend, " + processor->info().device;
  return {std::move(processor), std::move(reason)};
}

}  // namespace quietframe
