// Owners of CUDA's handles, as large as the handle, in terms of runtime.hpp.
#pragma once
#include <cstddef>
#include <memory>

#include "cuda/runtime.hpp"

namespace quietframe::cuda {

/// Destroys through the runtime and swallows errors: nobody can act on them, and at process exit the driver
/// may be gone already.
template <auto Destroy>
struct Destroyer {
  template <class Handle>
  void operator()(Handle* h) const noexcept {
    auto& r = runtime();
    if ((r.*Destroy)(h) != 0) r.take_last_error();
  }
};

using Stream = std::unique_ptr<CUstream_st, Destroyer<&Runtime::stream_destroy>>;
using Event = std::unique_ptr<CUevent_st, Destroyer<&Runtime::event_destroy>>;
using Graph = std::unique_ptr<CUgraph_st, Destroyer<&Runtime::graph_destroy>>;
using GraphExec = std::unique_ptr<CUgraphExec_st, Destroyer<&Runtime::graph_exec_destroy>>;
using DeviceMemory = std::unique_ptr<std::byte, Destroyer<&Runtime::device_free>>;
using PinnedMemory = std::unique_ptr<std::byte, Destroyer<&Runtime::host_free>>;

static_assert(sizeof(Stream) == sizeof(cudaStream_t) && sizeof(DeviceMemory) == sizeof(void*));

// Each throws CudaError.
Stream make_stream();
Event make_event(EventKind kind);
DeviceMemory allocate_device(std::size_t bytes);  ///< 256-byte aligned, contents undefined
PinnedMemory allocate_pinned(std::size_t bytes);  ///< contents undefined

}  // namespace quietframe::cuda
