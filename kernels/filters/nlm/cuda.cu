// Non-local means on CUDA: which implementation takes a job.
#include "filters/nlm/cuda_common.cuh"
#include "filters/nlm/cuda_strip.cuh"

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

std::size_t cuda_scratch(const CudaShape& shape) {
  // The fewest tiles, hence the most parts, that any parameters give.
  const int rows = warps * rows_per_strip(shape.channels);
  const int parts = parts_for(blocks(shape.width, strip_width) * blocks(shape.height, rows));
  if (parts == 1) return 0;
  const auto plane =
      static_cast<std::size_t>(padded_width(shape.width)) * static_cast<std::size_t>(shape.height);
  return sizeof(float) * plane * static_cast<std::size_t>(parts * (shape.channels + 2));
}

// Which is faster, on an H200 (2026-11-30), us for 512x512, direct beside box: gray, patch radius 2, search
// radius 3: 47 and 26, 5: 111 and 50, 7: 203 and 73, 10: 392 and 162; search radius 7, patch radius 1: 97 and
// 68, 4: 1419 and 84, 6: 2665 and 91; RGB 2 to 36 times. So box sums win for every patch of more than a
// pixel, at every size from 256 to 4096; for single pixels there is nothing to sum.
void run_cuda(const CudaJob& job, const Params& p) {
  const bool direct = p.implementation == Implementation::direct ||
                      (p.implementation == Implementation::automatic && p.patch_radius == 0);
  // A tile may be too large for the shared memory of a small GPU: then the other one, whose result is the
  // same.
  const auto box = [&] { return run_packed(job, p) || run_box(job, p); };
  const bool done = direct ? run_direct(job, p) || box() : box() || run_direct(job, p);
  if (!done)
    throw Error(
        "non-local means: this search radius and temporal radius do not fit the GPU's shared memory; "
        "use smaller ones, or backend=cpu");
}

}  // namespace quietframe::nlm
