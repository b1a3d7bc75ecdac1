// Gaussian blur of small radii on CUDA: warps march down the image with the last rows, blurred across, in
// registers.
#include "cuda/launch.cuh"
#include "cuda/pixel.cuh"
#include "filters/gaussian/cuda_methods.hpp"

namespace quietframe::gaussian {
namespace {

using namespace cuda;

// A lane holds four columns. It gets those that its taps need beside them from its neighbours, so that the
// outer lanes of a warp only lend theirs. Nothing goes through shared memory and nothing waits for another
// warp: every row of the strip can be on its way from memory before the first one is used.
constexpr int warps = 4, threads = 32 * warps, strip = 128;

template <int R>
struct Taps {
  float tap[2 * R + 1];
};

// v[R + i] is the sample i columns to the right of the lane's first.
template <int R>
__device__ void gather(const float (&own)[4], float (&v)[4 + 2 * R]) {
#pragma unroll
  for (int m = 0; m < 4 + 2 * R; ++m) {
    const int offset = m - R, lanes = offset < 0 ? (3 - offset) / 4 : offset / 4;
    if (offset >= 0 && offset < 4)
      v[m] = own[offset];
    else if (offset < 0)
      v[m] = __shfl_up_sync(0xffffffffU, own[offset + 4 * lanes], static_cast<unsigned>(lanes));
    else
      v[m] = __shfl_down_sync(0xffffffffU, own[offset - 4 * lanes], static_cast<unsigned>(lanes));
  }
}

template <class P, int R, int H>
__device__ void march(const PixelJob& job, const Taps<R>& taps, int x, int y0, bool stores) {
  constexpr int C = P::channels, window = 2 * R + 1;
  float across[window][C][4];  // a ring: every index is a constant once the loops are unrolled
#pragma unroll
  for (int k = 0; k < H + 2 * R; ++k) {
    float level[C][4];
    P::template load_run<4>(job.in, x, y0 + k - R, level);
#pragma unroll
    for (int c = 0; c < C; ++c) {
      float v[4 + 2 * R];
      gather<R>(level[c], v);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float sum = 0.f;
#pragma unroll
        for (int t = 0; t < window; ++t) sum = fmaf(taps.tap[t], v[i + t], sum);
        across[k % window][c][i] = sum;
      }
    }
    const int y = y0 + k - 2 * R;
    if (k < 2 * R) continue;
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float sum = 0.f;
#pragma unroll
        for (int t = 0; t < window; ++t) sum = fmaf(taps.tap[t], across[(k + 1 + t) % window][c][i], sum);
        level[c][i] = sum;
      }
    if (stores && y < job.out.group.height) P::template store<4>(job, x, y, level);
  }
}

template <class P, int R, int H>
__global__ void __launch_bounds__(threads)
    blur(const __grid_constant__ PixelJob job, const __grid_constant__ Taps<R> taps) {
  constexpr int idle = (R + 3) / 4, tile_w = strip - 8 * idle;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int x = static_cast<int>(blockIdx.x) * tile_w + 4 * (lane - idle);
  const int y = (static_cast<int>(blockIdx.y) * warps + warp) * H;
  const bool stores = lane >= idle && lane < 32 - idle && x < job.out.group.width;
  march<P, R, H>(job, taps, x, y, stores);
}

template <class P, int R, int H>
void run(const CudaJob& job, const float* half) {
  constexpr int tile_w = strip - 8 * ((R + 3) / 4);
  Taps<R> taps;
  for (int i = -R; i <= R; ++i) taps.tap[R + i] = half[i < 0 ? -i : i];
  const dim3 grid(blocks(job.in.width, tile_w), blocks(job.in.height, warps * H));
  launch(blur<P, R, H>, grid, threads, 0, job.stream, PixelJob(job), taps);
}

template <class P, int R>
bool run_radius(const CudaJob& job, int radius, const float* half) {
  // Short strips repeat more rows, and fill the machine sooner: measured to win up to 1080p, and to lose 9 %
  // at 4K.
  if (radius == R) return run < P, R, R <= 3 ? 4 : 8 > (job, half), true;
  if constexpr (R < (P::channels == 1 ? 6 : 3)) return run_radius<P, R + 1>(job, radius, half);
  return false;
}

}  // namespace

bool run_march(const CudaJob& job, int radius, const float* half) {
  bool done = false;
  with_pixels(job.in, [&]<class P>() {
    if constexpr (P::template wide<4>)
      done = P::template whole_runs<4>(cuda::PixelView(job.in)) && run_radius<P, 1>(job, radius, half);
  });
  return done;
}

}  // namespace quietframe::gaussian
