// The data-aware median on CUDA: hierarchical tiling by merge paths, a block a root tile, all lists in shared
// memory. tiling_block.hpp has the algorithm, tiling.hpp the plan.
#include "cuda/error.hpp"
#include "filters/median/cuda_methods.hpp"
#include "filters/median/samples.cuh"
#include "filters/median/tiling_block.hpp"

namespace quietframe::median {
namespace {

constexpr int max_threads = 256;

struct BlockTeam {
  template <class F>
  __device__ void each(int n, const F& f) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) f(i);
    __syncthreads();
  }
};

template <class Key, int Leaf>
__global__ void __launch_bounds__(max_threads)
    tiling_kernel(const __grid_constant__ Launch job, const __grid_constant__ Tiling tiling) {
  extern __shared__ __align__(16) std::byte shared[];
  BlockTeam team;
  TilingBlock<Key, Leaf, BlockTeam> block(tiling, reinterpret_cast<Key*>(shared), team);
  const int c = static_cast<int>(blockIdx.z);
  const int x0 = static_cast<int>(blockIdx.x) * tiling.choice.width;
  const int y0 = static_cast<int>(blockIdx.y) * tiling.choice.height;
  const int left = x0 - job.window.width / 2, top = y0 - job.window.height / 2;
  block.read([&](int x, int y) { return static_cast<Key>(load_key(job.in, c, left + x, top + y)); });
  block.filter();
  team.each(tiling.choice.width * tiling.choice.height, [&](int i) {
    const int y = tiling.by_width(i), x = i - y * tiling.choice.width;
    if (x0 + x < job.out.width && y0 + y < job.out.height)
      store_key(job, c, x0 + x, y0 + y, block.result(x, y));
  });
}

template <class Key, int Leaf>
void launch(const Tiling& tiling, const Launch& job, cudaStream_t stream) {
  const int bytes = tiling.keys * static_cast<int>(sizeof(Key));
  QF_CUDA_CHECK(
      cudaFuncSetAttribute(tiling_kernel<Key, Leaf>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const dim3 grid((job.out.width + tiling.choice.width - 1) / tiling.choice.width,
                  (job.out.height + tiling.choice.height - 1) / tiling.choice.height, job.out.channels);
  tiling_kernel<Key, Leaf><<<grid, tiling.choice.threads, bytes, stream>>>(job, tiling);
  QF_CUDA_CHECK_LAUNCH("tiling_kernel");
}

std::size_t key_bytes(SampleType type) { return type == SampleType::f32 ? 4 : 2; }

/// Dynamic shared memory of a block on the smallest GPU that this is compiled for.
constexpr std::size_t max_shared = 227 * 1024;

}  // namespace

TilingChoice tiling_choice(const Window& window, SampleType type) {
  const int k = std::min(window.width, window.height);
  const bool wide = type == SampleType::f32;
  if (k < 9) return {4, 4, 2, 0, 64};
  if (k < 17) return {8, 8, 2, 0, 128};
  if (k < 33) return {16, 16, 4, wide ? 1 : 0, 256};
  if (k < 51) return {32, 16, 4, 2, 128};
  return {32, 32, 4, k < 65 || !wide ? 2 : 4, 256};
}

bool can_run_tiling(const TilingChoice& choice, const Window& window, SampleType type) {
  return can_tile(window, choice) &&
         static_cast<std::size_t>(make_tiling(window, choice).keys) * key_bytes(type) <= max_shared;
}

void run_tiling(const TilingChoice& choice, const Launch& job, cudaStream_t stream) {
  const Tiling tiling = make_tiling(job.window, choice);
  if (job.in.type == SampleType::f32)
    choice.leaf == 2 ? launch<std::uint32_t, 2>(tiling, job, stream)
                     : launch<std::uint32_t, 4>(tiling, job, stream);
  else
    choice.leaf == 2 ? launch<std::uint16_t, 2>(tiling, job, stream)
                     : launch<std::uint16_t, 4>(tiling, job, stream);
}

}  // namespace quietframe::median
