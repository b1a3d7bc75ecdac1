// The fused schedule: from the samples to the samples in one tile of shared memory, a level a launch.
//
// Rows are filtered straight from the samples into the tile; each thread then takes a run of one of its
// columns into registers, analyses it, shrinks it, and puts the synthesised run back; rows are synthesised
// from the tile and stored. Neighbouring tiles repeat taps - 2 rows and columns of the analysis, so no
// coefficient ever leaves the chip.
#include "filters/wavelet/fused_cuda.hpp"

#include "cuda/launch.cuh"
#include "filters/wavelet/tile.cuh"

namespace quietframe::wavelet {
namespace {

/// `columns` lo and as many hi coefficients across, 2 x run x bands output rows.
template <int Columns, int Run, int Bands>
struct Tile {
  static constexpr int columns = Columns, run = Run;
  static constexpr int threads = 2 * Columns * Bands;
  static constexpr int output_rows = 2 * Run * Bands;
};
using LargeTile = Tile<64, 8, 3>;  // 120 x 48: 368 blocks at 1080p, of which 396 fit the H200
using SmallTile = Tile<32, 4, 4>;  // 56 x 32: 160 blocks at 512x512

struct Args {
  Channels in, out;
  GroupView ll;  ///< LL that stands in for the tile's own (a deeper level's result); data null: none
  CudaSigma sigma;
  float alpha, beta_lh, beta_hl, beta_hh;
  Rule rule;
  float strength;
  bool early;  ///< `in` was complete before the kernel before this one began
};

template <Basis B, class T>
struct Geometry {
  using F = Transform<B>;
  static constexpr int pairs = (T::columns - F::half + 1) / 4 * 4;  ///< pairs of output columns
  static constexpr int sample_rows = T::output_rows + 2 * F::taps - 4;
  static constexpr int back = F::taps - 2;  ///< samples before the first output's
  static constexpr int pad = (4 - back % 4) % 4;
  static constexpr int samples = (8 + back + pad + 3) / 4 * 4;  ///< for a run of four coefficients
};

template <Basis B, SampleType S, class T>
__device__ void filter_rows(const Args& a, int c, int pair, int first_y, float (*tile)[2 * T::columns]) {
  using G = Geometry<B, T>;
  using F = Transform<B>;
  constexpr int runs = T::columns / 4;
  constexpr int rows = G::sample_rows - F::unused_front - F::unused_back;
  for (int i = static_cast<int>(threadIdx.x); i < rows * runs; i += T::threads) {
    const int row = i / runs + F::unused_front, column = i % runs * 4;
    if (2 * (pair + column) >= a.in.group.width + F::taps) continue;  // right of the last coefficient
    float x[G::samples], shifted[G::samples - G::pad], lo[4], hi[4];
    load_run<S>(a.in, c, 2 * (pair + column) - G::back - G::pad, first_y + row, x);
#pragma unroll
    for (int k = 0; k < G::samples - G::pad; ++k) shifted[k] = x[k + G::pad];
    F::analyse(shifted, lo, hi);
    *reinterpret_cast<float4*>(&tile[row][column]) = make_float4(lo[0], lo[1], lo[2], lo[3]);
    *reinterpret_cast<float4*>(&tile[row][T::columns + column]) = make_float4(hi[0], hi[1], hi[2], hi[3]);
  }
}

// One run of a column: analysis, thresholds, synthesis; in place, as all threads have read before any writes.
template <Basis B, class T>
__device__ void filter_column(const Args& a, int c, int pair, int first_pair_y,
                              float (*tile)[2 * T::columns]) {
  using F = Transform<B>;
  constexpr int n = T::run + F::half - 1;
  const int column = static_cast<int>(threadIdx.x) % (2 * T::columns);
  const int row = static_cast<int>(threadIdx.x) / (2 * T::columns) * 2 * T::run;
  const bool high = column >= T::columns;  // uniform in a warp
  float x[2 * n + F::taps - 2], lo[n], hi[n], y[2 * T::run];
#pragma unroll
  for (int k = 0; k < 2 * n + F::taps - 2; ++k) x[k] = tile[row + k][column];
  __syncthreads();
  F::analyse(x, lo, hi);
  if (a.ll.channels > 0 && !high) {
    const int at = pair + column, width = a.ll.width;
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const int i = first_pair_y + row / 2 + k;
      lo[k] = at < width && i < a.ll.height
                  ? 1.f / F::ll_factor *
                        *(reinterpret_cast<const float*>(a.ll.channel[c] + i * a.ll.stride[c]) + at)
                  : 0.f;
    }
  }
  const float scale = a.alpha * a.sigma(c);
  if (high) {
    shrink_all(a.rule, a.beta_hl * scale, lo);
    shrink_all(a.rule, a.beta_hh * scale * (1.f / F::hh_factor), hi);
  } else {
    shrink_all(a.rule, a.beta_lh * scale, hi);
  }
  F::template synthesise<T::run>(lo, hi, y);
#pragma unroll
  for (int k = 0; k < 2 * T::run; ++k) tile[row + k][column] = y[k];
}

template <Basis B, SampleType S, class T>
__device__ void store_rows(const Args& a, int c, int pair, int first_y, const float (*tile)[2 * T::columns]) {
  using G = Geometry<B, T>;
  using F = Transform<B>;
  constexpr int runs = G::pairs / 4;
  constexpr int n = (4 + F::half - 1 + 3) / 4 * 4;
  for (int i = static_cast<int>(threadIdx.x); i < T::output_rows * runs; i += T::threads) {
    const int row = i / runs, column = i % runs * 4;
    const int y = first_y + row, x = 2 * (pair + column);
    if (y >= a.out.group.height || x >= a.out.group.width) continue;
    float lo[n], hi[n], level[8];
#pragma unroll
    for (int k = 0; k < n; k += 4) {
      const float4 l = *reinterpret_cast<const float4*>(&tile[row][column + k]);
      const float4 h = *reinterpret_cast<const float4*>(&tile[row][T::columns + column + k]);
      lo[k] = l.x, lo[k + 1] = l.y, lo[k + 2] = l.z, lo[k + 3] = l.w;
      hi[k] = h.x, hi[k + 1] = h.y, hi[k + 2] = h.z, hi[k + 3] = h.w;
    }
    F::template synthesise<4>(lo, hi, level);
    float left[4] = {level[0], level[1], level[2], level[3]},
          right[4] = {level[4], level[5], level[6], level[7]};
    store_run<S>(a.in, a.out, a.strength, c, x, y, left);
    if (x + 4 < a.out.group.width) store_run<S>(a.in, a.out, a.strength, c, x + 4, y, right);
  }
}

template <Basis B, SampleType S, class T>
__global__ void __launch_bounds__(T::threads) fused_kernel(const __grid_constant__ Args a) {
  using G = Geometry<B, T>;
  extern __shared__ float4 shared[];
  auto* tile = reinterpret_cast<float(*)[2 * T::columns]>(shared);
  const int c = static_cast<int>(blockIdx.z);
  const int pair = static_cast<int>(blockIdx.x) * G::pairs,
            first_y = static_cast<int>(blockIdx.y) * T::output_rows;
  cuda::let_next_kernel_start();
  if (!a.early) cuda::wait_for_previous_kernel();
  filter_rows<B, S, T>(a, c, pair, first_y - G::back, tile);
  if (a.early) cuda::wait_for_previous_kernel();
  __syncthreads();
  filter_column<B, T>(a, c, pair, first_y / 2, tile);
  __syncthreads();
  store_rows<B, S, T>(a, c, pair, first_y, tile);
}

template <Basis B, SampleType S, class T>
void launch_tiles(const Args& a, bool overlap, cudaStream_t stream) {
  using G = Geometry<B, T>;
  constexpr std::size_t shared = sizeof(float) * 2 * T::columns * G::sample_rows;
  const dim3 grid(static_cast<unsigned>((a.in.group.width + 2 * G::pairs - 1) / (2 * G::pairs)),
                  static_cast<unsigned>((a.in.group.height + T::output_rows - 1) / T::output_rows),
                  static_cast<unsigned>(a.in.group.channels));
  static_assert(shared <= 48 * 1024);
  cuda::launch(fused_kernel<B, S, T>, grid, T::threads, shared, overlap, stream, a);
}

}  // namespace

void enqueue_fused_level(const FusedLevel& level, const Params& p, cudaStream_t stream) {
  const Args a{channels_of(level.in),
               channels_of(level.out),
               level.ll,
               level.sigma,
               p.alpha,
               p.beta_lh,
               p.beta_hl,
               p.beta_hh,
               p.threshold,
               level.strength,
               level.overlap && level.in_is_early};
  const auto& g = level.in;
  const bool large = static_cast<long>(g.width) * g.height * g.channels > 1024L * 1024;
  with_sample_type(g.type, [&]<SampleType S>() {
    with_basis(p.basis, [&]<Basis B>() {
      if constexpr (B == Basis::bior44)
        if (large) return launch_tiles<B, S, LargeTile>(a, level.overlap, stream);
      launch_tiles<B, S, SmallTile>(a, level.overlap, stream);
    });
  });
}

}  // namespace quietframe::wavelet
