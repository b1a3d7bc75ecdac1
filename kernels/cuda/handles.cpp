// Makes what handles.hpp owns.
#include "cuda/handles.hpp"

#include "cuda/error.hpp"

namespace quietframe::cuda {

Stream make_stream() {
  cudaStream_t s = nullptr;
  QF_CUDA_CHECK(runtime().stream_create(&s));
  return Stream(s);
}

Event make_event(EventKind kind) {
  cudaEvent_t e = nullptr;
  QF_CUDA_CHECK(runtime().event_create(&e, kind));
  return Event(e);
}

DeviceMemory allocate_device(std::size_t bytes) {
  void* p = nullptr;
  QF_CUDA_CHECK(runtime().device_alloc(&p, bytes));
  return DeviceMemory(static_cast<std::byte*>(p));
}

PinnedMemory allocate_pinned(std::size_t bytes) {
  void* p = nullptr;
  QF_CUDA_CHECK(runtime().host_alloc(&p, bytes));
  return PinnedMemory(static_cast<std::byte*>(p));
}

}  // namespace quietframe::cuda
