// GstCuda for the fake GPU: contexts, memory and pools that look like GstCuda's, over the fake's device
// memory.
#pragma once
#include "cuda_library.hpp"

namespace quietframe::test {

/// Pretends from now on that GstCuda is there (and needs the fake runtime); else CudaLibrary::get() is null.
void use_fake_cuda_library();

/// How many contexts exist.
int fake_contexts();
gst::CudaContext* new_fake_context();

/// A buffer of CUDAMemory with the contents of `frame`, in rows of another pitch.
GstBuffer* to_cuda_memory(GstBuffer* frame, const GstVideoInfo& info, gst::CudaContext* context);
/// The other way.
GstBuffer* from_cuda_memory(GstBuffer* frame, const GstVideoInfo& info);

}  // namespace quietframe::test
