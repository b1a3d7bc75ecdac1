// The CUDA backend's symbols for builds without a CUDA toolkit: every answer is "none", with the reason.
#include <cstdlib>

#include "cuda/device.hpp"
#include "processor.hpp"

namespace quietframe::cuda {
namespace {
constexpr char reason[] = "this build has no CUDA support (it was compiled without nvcc)";
}

Probe probe() { return {{}, reason, 0, 0}; }

std::unique_ptr<Processor> make_processor(int) {
  throw Error(std::string("the CUDA backend cannot be used: ") + reason);
}

void* host_alloc(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
void host_free(void* p) noexcept { std::free(p); }
bool host_memory_is_pinned() { return false; }

}  // namespace quietframe::cuda
