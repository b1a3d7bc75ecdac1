// Bilateral filter on CUDA: the window is walked over a tile in shared memory whose samples are scaled so
// that a weight is one exp2 of one multiply-add per channel.
#include "cuda/launch.cuh"
#include "cuda/tile.cuh"
#include "filters/bilateral/params.hpp"

namespace quietframe::bilateral {
namespace {

using namespace cuda;

// With samples in units of sr sqrt(2 / log2 e), w = 2^(s(dx) + s(dy) - D^2): for each neighbour of each pixel
// a subtraction, a multiply-add, an exp2 and two sums, of which the exp2 (16 a clock and SM) is the bound. A
// thread makes four pixels of a row from a register window, so that a sample is loaded once for all four.
constexpr int tile_w = 64, tile_h = 16, threads = 256;
static_assert(tile_w / 4 * tile_h == threads);

constexpr float log2_e = 1.44269504f;

struct Window {
  int radius, pitch, rows;
  float space;  ///< log2(e) / 2 ss^2
};

__device__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <int C>
struct Sums {
  float centre[C][4];
  float weight[4] = {};
  float sum[C][4] = {};

  // One neighbour of each of the four pixels.
  __device__ void add(const float (&sample)[C][4], float space) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float d[C], e = space;
#pragma unroll
      for (int c = 0; c < C; ++c) {
        d[c] = sample[c][i] - centre[c][i];
        e = fmaf(-d[c], d[c], e);
      }
      const float w = exp2_fast(e);
      weight[i] += w;
#pragma unroll
      for (int c = 0; c < C; ++c) sum[c][i] = fmaf(w, d[c], sum[c][i]);
    }
  }
};

// One row of the window: `row` begins `radius` before the first of the four pixels. Its 2 radius + 1
// neighbours are taken four at a time, and the one or three that are left.
template <int C>
__device__ void add_row(const float* row, int plane, int radius, const float* space_x, float space_y,
                        Sums<C>& sums) {
  float v[C][8];
  auto load = [&](int at, int from) {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const float4 q = *reinterpret_cast<const float4*>(row + c * plane + from);
      v[c][at] = q.x, v[c][at + 1] = q.y, v[c][at + 2] = q.z, v[c][at + 3] = q.w;
    }
  };
  auto add = [&](int t, float space) {
    float sample[C][4];
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) sample[c][i] = v[c][t + i];
    sums.add(sample, space + space_y);
  };
  load(0, 0);
  int i = 0;
  for (; i + 4 <= 2 * radius + 1; i += 4) {
    load(4, i + 4);
    const float4 s = *reinterpret_cast<const float4*>(space_x + i);
    add(0, s.x), add(1, s.y), add(2, s.z), add(3, s.w);
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int t = 0; t < 4; ++t) v[c][t] = v[c][t + 4];
  }
  add(0, space_x[i]);
  if (i < 2 * radius) {
    load(4, i + 4);
    add(1, space_x[i + 1]), add(2, space_x[i + 2]);
  }
}

template <class P>
__global__ void __launch_bounds__(threads) filter(const __grid_constant__ PixelJob job, CudaSigma sigma,
                                                  const __grid_constant__ Params params, Window window) {
  extern __shared__ float4 shared[];
  __shared__ alignas(16) float space_x[2 * max_radius + 4];
  constexpr int C = P::channels;
  float* samples = reinterpret_cast<float*>(shared);
  const int r = window.radius, plane = window.rows * window.pitch;
  const int x0 = static_cast<int>(blockIdx.x) * tile_w, y0 = static_cast<int>(blockIdx.y) * tile_h;
  const int thread = static_cast<int>(threadIdx.x);

  float channel_sigma[C];
#pragma unroll
  for (int c = 0; c < C; ++c) channel_sigma[c] = sigma(c);
  const float sr = quietframe::bilateral::range(params, joint_sigma(channel_sigma, C));
  const float unit = sqrtf(0.5f * log2_e) / sr;
  if (thread <= 2 * r) space_x[thread] = -window.space * static_cast<float>((thread - r) * (thread - r));
  load_tile<P>(job.in, {samples, x0 - r, y0 - r, window.pitch, window.rows, window.pitch, plane}, unit,
               thread, threads);
  __syncthreads();

  const int x = thread % (tile_w / 4) * 4, y = thread / (tile_w / 4);
  if (x0 + x >= job.out.group.width || y0 + y >= job.out.group.height) return;
  Sums<C> sums;
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int i = 0; i < 4; ++i) sums.centre[c][i] = samples[c * plane + (y + r) * window.pitch + x + r + i];
  for (int j = -r; j <= r; ++j)
    add_row(samples + (y + r + j) * window.pitch + x, plane, r, space_x,
            -window.space * static_cast<float>(j * j), sums);

  float level[C][4];
  P::template load<4>(job.in, x0 + x, y0 + y, level);
  const float levels_per_unit = 1.f / unit;
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int i = 0; i < 4; ++i) level[c][i] += sums.sum[c][i] / sums.weight[i] * levels_per_unit;
  P::template store<4>(job, x0 + x, y0 + y, level);
}

}  // namespace

std::size_t cuda_scratch(const CudaShape&) { return 0; }

void run_cuda(const CudaJob& job, const Params& p) {
  const int r = radius(p);
  // The pitch is rounded up for the loads of four that begin on a row's last pixels.
  const Window window{r, (tile_w + 2 * r + 7) / 4 * 4, tile_h + 2 * r,
                      0.5f * log2_e / (p.sigma_space * p.sigma_space)};
  const dim3 grid(blocks(job.in.width, tile_w), blocks(job.in.height, tile_h));
  with_pixels(job.in, [&]<class P>() {
    const auto shared = sizeof(float) * static_cast<std::size_t>(window.rows * window.pitch * P::channels);
    launch(filter<P>, grid, threads, shared, job.stream, PixelJob(job), job.sigma, p, window);
  });
}

}  // namespace quietframe::bilateral
