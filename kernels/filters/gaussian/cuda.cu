// Gaussian blur on CUDA: which implementation takes a job, and the one for large radii: rows and columns in
// one launch, over a tile that stays in shared memory.
#include "cuda/launch.cuh"
#include "cuda/tile.cuh"
#include "filters/gaussian/cuda_methods.hpp"
#include "filters/gaussian/params.hpp"

namespace quietframe::gaussian {
namespace {

using namespace cuda;

// A block makes 64 x 32 pixels: at 1080p 1020 blocks, eight to an SM, are one wave, and the halo of the usual
// radii (3 to 6) costs less than half of what is read.
constexpr int tile_w = 64, tile_h = 32, threads = 256;
constexpr int rows_per_thread = 2;
static_assert(tile_w / 4 * (tile_h / rows_per_thread) == threads);

// Both passes work in runs of four samples and take their taps four at a time: zeros before and after make
// that right for every radius.
constexpr int lead = rows_per_thread - 1;
struct Taps {
  float tap[lead + 2 * max_radius + 1 + rows_per_thread + 3] = {};
  int radius;
};

struct Shared {
  int pitch, rows;
  std::size_t bytes(int channels) const {
    return sizeof(float) * static_cast<std::size_t>(rows * (pitch + tile_w) * channels);
  }
};

Shared shared_for(int radius) {
  // Rounded up for the loads of four that begin on a row's last pixels.
  return {(tile_w + 2 * radius + 7) / 4 * 4, tile_h + 2 * radius};
}

__device__ float4 fma4(float t, const float4& v, const float4& sum) {
  return make_float4(fmaf(t, v.x, sum.x), fmaf(t, v.y, sum.y), fmaf(t, v.z, sum.z), fmaf(t, v.w, sum.w));
}

// Four outputs from the row of samples that begins `radius` before the first of them.
__device__ float4 blur_across(const float* row, const Taps& taps) {
  float4 now = *reinterpret_cast<const float4*>(row), sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < 2 * taps.radius + 1; i += 4) {
    const float4 next = *reinterpret_cast<const float4*>(row + i + 4);
    const float* t = taps.tap + lead + i;
    sum = fma4(t[0], now, sum);
    sum = fma4(t[1], make_float4(now.y, now.z, now.w, next.x), sum);
    sum = fma4(t[2], make_float4(now.z, now.w, next.x, next.y), sum);
    sum = fma4(t[3], make_float4(now.w, next.x, next.y, next.z), sum);
    now = next;
  }
  return sum;
}

// The same for a strip of rows_per_thread x 4, from the column of rows that begins `radius` above it.
__device__ void blur_down(const float* column, const Taps& taps, float4 (&sum)[rows_per_thread]) {
#pragma unroll
  for (auto& s : sum) s = make_float4(0, 0, 0, 0);
#pragma unroll 2
  for (int i = 0; i < 2 * taps.radius + rows_per_thread; ++i) {
    const float4 v = *reinterpret_cast<const float4*>(column + i * tile_w);
#pragma unroll
    for (int j = 0; j < rows_per_thread; ++j) sum[j] = fma4(taps.tap[lead + i - j], v, sum[j]);
  }
}

template <class P>
__global__ void __launch_bounds__(threads)
    blur(const __grid_constant__ PixelJob job, const __grid_constant__ Taps taps, Shared shape) {
  extern __shared__ float4 shared[];
  constexpr int channels = P::channels;
  float* samples = reinterpret_cast<float*>(shared);
  float* across = samples + channels * shape.rows * shape.pitch;
  const int x0 = static_cast<int>(blockIdx.x) * tile_w, y0 = static_cast<int>(blockIdx.y) * tile_h;
  const int thread = static_cast<int>(threadIdx.x);
  load_tile<P>(job.in,
               {samples, x0 - taps.radius, y0 - taps.radius, shape.pitch, shape.rows, shape.pitch,
                shape.rows * shape.pitch},
               1.f, thread, threads);
  __syncthreads();
  for (int i = thread; i < channels * shape.rows * (tile_w / 4); i += threads) {
    const int row = i / (tile_w / 4), x = i % (tile_w / 4) * 4;
    *reinterpret_cast<float4*>(across + row * tile_w + x) =
        blur_across(samples + row * shape.pitch + x, taps);
  }
  __syncthreads();
  const int x = thread % (tile_w / 4) * 4, y = thread / (tile_w / 4) * rows_per_thread;
  float4 sum[channels][rows_per_thread];
#pragma unroll
  for (int c = 0; c < channels; ++c) blur_down(across + (c * shape.rows + y) * tile_w + x, taps, sum[c]);
#pragma unroll
  for (int j = 0; j < rows_per_thread; ++j) {
    if (y0 + y + j >= job.out.group.height || x0 + x >= job.out.group.width) return;
    float level[channels][4];
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      level[c][0] = sum[c][j].x, level[c][1] = sum[c][j].y;
      level[c][2] = sum[c][j].z, level[c][3] = sum[c][j].w;
    }
    P::template store<4>(job, x0 + x, y0 + y + j, level);
  }
}

}  // namespace

std::size_t cuda_scratch(const CudaShape&) { return 0; }

void run_cuda(const CudaJob& job, const Params& p) {
  Taps taps;
  float half[max_radius + 1] = {};
  taps.radius = fill_taps(p, half);
  if (run_march(job, taps.radius, half)) return;
  for (int i = -taps.radius; i <= taps.radius; ++i) taps.tap[lead + taps.radius + i] = half[std::abs(i)];
  const auto shape = shared_for(taps.radius);
  const dim3 grid(blocks(job.in.width, tile_w), blocks(job.in.height, tile_h));
  with_pixels(job.in, [&]<class P>() {
    launch(blur<P>, grid, threads, shape.bytes(P::channels), job.stream, PixelJob(job), taps, shape);
  });
}

}  // namespace quietframe::gaussian
