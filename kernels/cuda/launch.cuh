// Launches that may begin while the kernel before them on the stream drains (programmatic dependent launch).
#pragma once
#include <cuda_runtime.h>

#include "cuda/job.hpp"

namespace quietframe::cuda {

/// In a kernel launched with overlap: what earlier kernels wrote is visible after this.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// In a kernel that is followed by one launched with overlap: that one may start now.
__device__ inline void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Whether the current device overlaps kernels so (compute capability 9.0 and later).
inline bool device_overlaps_kernels() {
  int device = 0, major = 0;
  QF_CUDA_CHECK(cudaGetDevice(&device));
  QF_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

/// kernel<<<grid, block, shared, stream>>>(args...). With `overlap`, the operation before it on the stream
/// has to be a kernel, and this kernel calls wait_for_previous_kernel.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared, bool overlap,
            cudaStream_t stream, const Arguments&... args) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap ? 1 : 0;
  QF_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(args)...));
}

/// Blocks of `tile` that cover `size`.
inline unsigned blocks(int size, int tile) { return static_cast<unsigned>((size + tile - 1) / tile); }

/// Dynamic shared memory that every kernel may use without asking.
inline constexpr std::size_t plain_shared_bytes = 48 * 1024;

/// The same without overlap, and with as much shared memory as a block of the device can have.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, int threads, std::size_t shared, cudaStream_t stream,
            const Arguments&... args) {
  if (shared > plain_shared_bytes) {
    QF_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    // Left to itself the driver may keep so much of it for the L1 cache that one block fits where three
    // would.
    QF_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                       cudaSharedmemCarveoutMaxShared));
  }
  launch(kernel, grid, dim3(static_cast<unsigned>(threads)), shared, false, stream, args...);
}

}  // namespace quietframe::cuda
