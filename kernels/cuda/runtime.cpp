// Which runtime is in use, and the library's page-locked memory over it.
#include "cuda/runtime.hpp"

#include <atomic>
#include <cstdlib>

#include "cuda/context.hpp"
#include "cuda/device.hpp"

namespace quietframe::cuda {

Runtime& built_in_runtime();  // cudart.cpp or absent.cpp

namespace {
Runtime* replaced = nullptr;
std::atomic<int> pins{
    -1};  // asked once: at process exit the driver answers "no device" for memory that it pinned
std::atomic<int> host_device{0};
std::atomic<CUcontext> host_context{nullptr};  // of host_device, once it has been asked for
}  // namespace

Runtime& runtime() { return replaced ? *replaced : built_in_runtime(); }

void replace_runtime(Runtime* other) {
  replaced = other;
  pins = -1;
  host_context = nullptr;
}

bool host_memory_is_pinned() {
  if (pins < 0) {
    int count = 0;
    const int code = runtime().device_count(&count);
    if (code != 0) runtime().take_last_error();
    pins = code == 0 && count > 0 && runtime().pins_host_memory() ? 1 : 0;
  }
  return pins != 0;
}

void use_host_memory_with(int device) {
  if (host_device.exchange(device) != device) host_context = nullptr;
}

namespace {
CUcontext host_memory_context() {
  if (CUcontext known = host_context) return known;
  CUcontext context = nullptr;
  QF_CUDA_CHECK(runtime().primary_context(host_device, &context));
  host_context = context;
  return context;
}
}  // namespace

void* host_alloc(std::size_t bytes) {
  if (!host_memory_is_pinned()) return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  try {
    const ContextScope inside(host_memory_context());
    void* p = nullptr;
    QF_CUDA_CHECK(runtime().host_alloc(&p, bytes));
    return p;
  } catch (const CudaError&) {
    return nullptr;
  }
}

bool host_register(void* p, std::size_t bytes) noexcept {
  if (!host_memory_is_pinned()) return false;
  try {
    const ContextScope inside(host_memory_context());
    QF_CUDA_CHECK(runtime().host_register(p, bytes));
    return true;
  } catch (const CudaError&) {
    return false;
  }
}

void host_unregister(void* p) noexcept {
  const ContextScope inside(host_context, std::nothrow);
  if (runtime().host_unregister(p) != 0) runtime().take_last_error();
}

void host_free(void* p) noexcept {
  if (!host_memory_is_pinned()) return std::free(p);
  const ContextScope inside(host_context, std::nothrow);
  if (p && runtime().host_free(p) != 0) runtime().take_last_error();
}

}  // namespace quietframe::cuda
