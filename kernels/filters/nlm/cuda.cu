// Non-local means on CUDA: which implementation takes a job.
#include "filters/nlm/cuda_common.cuh"

namespace quietframe::nlm {

std::size_t shared_bytes_per_block() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess) {
    cudaGetLastError();
    return cuda::plain_shared_bytes;
  }
  return static_cast<std::size_t>(bytes);
}

std::size_t cuda_scratch(const CudaShape&) { return 0; }

void run_cuda(const CudaJob& job, const Params& p) {
  const bool direct = p.implementation == Implementation::direct ||
                      (p.implementation == Implementation::automatic && p.patch_radius == 0);
  // A tile may be too large for the shared memory of a small GPU: then the other one, whose result is the
  // same.
  const bool done = direct ? run_direct(job, p) || run_box(job, p) : run_box(job, p) || run_direct(job, p);
  if (!done)
    throw Error(
        "non-local means: this search radius and temporal radius do not fit the GPU's shared memory; "
        "use smaller ones, or backend=cpu");
}

}  // namespace quietframe::nlm
