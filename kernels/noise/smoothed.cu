// The smoothed noise estimate on the device: HH of one bior4.4 step is counted where it is made and never
// stored, and the block that finishes last takes the step over stream time.
#include "noise/smoothed_cuda.hpp"

#include "cuda/launch.cuh"
#include "filters/wavelet/tile.cuh"

namespace quietframe {
namespace {

using wavelet::Basis;

constexpr int threads = 256, warps = threads / 32;
static_assert(threads == smoothing::look_size);

/// A block makes `columns` x `rows` coefficients, each thread `run` of one column.
template <int Columns, int Rows>
struct Tile {
  static constexpr int columns = Columns, rows = Rows, run = Columns * Rows / threads;
};
using LargeTile = Tile<64, 32>;
using SmallTile = Tile<32, 16>;  // enough blocks for every multiprocessor from 512x512 on

struct Args {
  wavelet::Channels in;
  SmoothedState* state;
  const SmoothedStep* step;
  CudaSigma sigma;
};

struct Shared {
  std::uint32_t counts[512];
  std::uint32_t warp_sum[warps];
  float warp_difference[warps];
  float sigma;
  bool last;
};

template <class T>
__device__ T sum_of_warp(T v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffU, v, d);
  return v;
}

// Of s.counts, by all threads; the result is in s.sigma after a barrier.
__device__ void find_sigma(Shared& s, std::uint32_t all) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const std::uint32_t own[2] = {s.counts[2 * thread], s.counts[2 * thread + 1]};
  std::uint32_t sum = own[0] + own[1];  // inclusive over the warp, then over the block
  for (int d = 1; d < 32; d *= 2) {
    const std::uint32_t below = __shfl_up_sync(0xffffffffU, sum, d);
    if (lane >= d) sum += below;
  }
  if (lane == 31) s.warp_sum[warp] = sum;
  if (thread == 0) s.sigma = -1.f;
  __syncthreads();
  std::uint32_t total = 0;
  for (int w = 0; w < warps; ++w) {
    if (w == warp) sum += total;
    total += s.warp_sum[w];
  }
  if (!smoothing::enough(total, all)) return;
  std::uint32_t before = sum - own[0] - own[1];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const bool here = 2.0 * before < total && 2.0 * (before + own[k]) >= total;
    if (here) s.sigma = smoothing::sigma_in(2 * thread + k, before, own[k], total);
    before += own[k];
  }
}

template <SampleType S>
__device__ void finish(Shared& s, const Args& a, int c, std::uint32_t all) {
  const int thread = static_cast<int>(threadIdx.x);
  SmoothedState& state = a.state[c];
  const GroupView& g = a.in.group;
  const int x = smoothing::look_at(thread % smoothing::look_side, g.width),
            y = smoothing::look_at(thread / smoothing::look_side, g.height);
  const float look =
      load_level<S>(g.channel[c] + y * g.stride[c] + std::ptrdiff_t{x} * g.step, g.shift, g.levels_per_code);
  const float difference = sum_of_warp(fabsf(look - state.look[thread]));
  state.look[thread] = look;
#pragma unroll
  for (int i = thread; i < 512; i += threads) {
    s.counts[i] = __ldcg(&state.counts[i]);
    state.counts[i] = 0;
  }
  if (thread % 32 == 0) s.warp_difference[thread / 32] = difference;
  __syncthreads();
  find_sigma(s, all);
  __syncthreads();
  if (thread != 0) return;
  float apart = 0.f;
  for (const float w : s.warp_difference) apart += w;
  const volatile SmoothedStep& step = *a.step;
  const float sigma = smoothing::advance(state.estimate, s.sigma, apart / smoothing::look_size, step.seconds,
                                         step.reset != 0);
  state.arrived = 0;
  a.sigma.device[c] = sigma;
  if (a.sigma.report) a.sigma.report[c] = sigma;
}

template <SampleType S, class T>
__global__ void __launch_bounds__(threads) smooth_kernel(const __grid_constant__ Args a) {
  using F = wavelet::Fir<Basis::bior44>;
  constexpr int back = F::taps - 2;  // samples before the first coefficient's pair
  constexpr int middle = back - 3;   // of a coefficient, from the same place
  constexpr int sample_rows = 2 * T::rows + back;
  constexpr int samples = 8 + back;  // for a run of four coefficients
  __shared__ float filtered[sample_rows][T::columns];
  __shared__ uchar4 clipped[T::rows][T::columns / 4];
  __shared__ Shared s;
  const int c = static_cast<int>(blockIdx.z), thread = static_cast<int>(threadIdx.x);
  const int first_column = static_cast<int>(blockIdx.x) * T::columns,
            first_row = static_cast<int>(blockIdx.y) * T::rows;
  const int width = wavelet::coefficients(a.in.group.width, F::taps),
            height = wavelet::coefficients(a.in.group.height, F::taps);
  for (int i = thread; i < 512; i += threads) s.counts[i] = 0;

  constexpr int runs = T::columns / 4;
  for (int i = thread; i < sample_rows * runs; i += threads) {
    const int row = i / runs, column = i % runs * 4;
    if (first_column + column >= width) continue;
    float x[samples], coefficient[4];
    wavelet::load_run<S>(a.in, c, 2 * (first_column + column) - back, 2 * first_row - back + row, x);
    F::template analyse<true>(x, coefficient);
    *reinterpret_cast<float4*>(&filtered[row][column]) =
        make_float4(coefficient[0], coefficient[1], coefficient[2], coefficient[3]);
    if (row >= middle && (row - middle) % 2 == 0 && row / 2 - middle / 2 < T::rows)
      clipped[row / 2 - middle / 2][column / 4] =
          make_uchar4(smoothing::is_clipped(x[middle]), smoothing::is_clipped(x[middle + 2]),
                      smoothing::is_clipped(x[middle + 4]), smoothing::is_clipped(x[middle + 6]));
  }
  __syncthreads();
  const int column = thread % T::columns, row = thread / T::columns * T::run;
  float x[2 * T::run + back], coefficient[T::run];
#pragma unroll
  for (int k = 0; k < 2 * T::run + back; ++k) x[k] = filtered[2 * row + k][column];
  F::template analyse<true>(x, coefficient);
#pragma unroll
  for (int k = 0; k < T::run; ++k) {
    if (first_column + column >= width || first_row + row + k >= height) break;
    if (!reinterpret_cast<const unsigned char*>(clipped[row + k])[column] &&
        smoothing::counts(coefficient[k]))
      atomicAdd(&s.counts[smoothing::bin_of(coefficient[k])], 1U);
  }
  __syncthreads();
  for (int i = thread; i < smoothing::bins; i += threads)
    if (s.counts[i]) atomicAdd(&a.state[c].counts[i], s.counts[i]);
  __threadfence();
  __syncthreads();
  if (thread == 0) s.last = atomicAdd(&a.state[c].arrived, 1U) == gridDim.x * gridDim.y - 1;
  __syncthreads();
  if (!s.last) return;
  __threadfence();
  finish<S>(s, a, c, static_cast<std::uint32_t>(width) * static_cast<std::uint32_t>(height));
}

template <SampleType S, class T>
void launch_tiles(const Args& a, cudaStream_t stream) {
  const auto& g = a.in.group;
  const dim3 grid(cuda::blocks(wavelet::coefficients(g.width, wavelet::bior44.taps), T::columns),
                  cuda::blocks(wavelet::coefficients(g.height, wavelet::bior44.taps), T::rows),
                  static_cast<unsigned>(g.channels));
  cuda::launch(smooth_kernel<S, T>, grid, threads, 0, false, stream, a);
}

}  // namespace

void smooth_sigma_cuda(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                       const CudaSigma& sigma, cudaStream_t stream) {
  const Args a{wavelet::channels_of(in), state, step, sigma};
  const bool large = static_cast<long>(in.width) * in.height * in.channels > 1024L * 1024;
  with_sample_type(in.type, [&]<SampleType S>() {
    if (large)
      launch_tiles<S, LargeTile>(a, stream);
    else
      launch_tiles<S, SmallTile>(a, stream);
  });
}

}  // namespace quietframe
