// Looks into GstCuda's memory and pools, which takes none of its functions.
#include <cstring>

#include "cuda_library.hpp"

namespace quietframe::gst {
namespace {

// The public beginnings of GstCudaMemory and GstCudaBufferPool, the same from 1.22 to 1.28.
struct CudaMemoryHead {
  GstMemory memory;
  CudaContext* context;
};
struct CudaPoolHead {
  GstBufferPool pool;
  CudaContext* context;
};

}  // namespace

CudaContext* cuda_context_of(const GstMemory* memory) {
  const auto* allocator = memory->allocator;
  if (!allocator || !allocator->mem_type || std::strcmp(allocator->mem_type, "gst.cuda.memory") != 0)
    return nullptr;
  return reinterpret_cast<const CudaMemoryHead*>(memory)->context;
}

CudaContext* cuda_context_of(GstBuffer* buffer) {
  return gst_buffer_n_memory(buffer) > 0 ? cuda_context_of(gst_buffer_peek_memory(buffer, 0)) : nullptr;
}

CudaContext* cuda_context_of(GstBufferPool* pool) {
  const auto type = g_type_from_name("GstCudaBufferPool");
  return type != 0 && G_TYPE_CHECK_INSTANCE_TYPE(pool, type) ? reinterpret_cast<CudaPoolHead*>(pool)->context
                                                             : nullptr;
}

}  // namespace quietframe::gst
