// The exact median on the device, and the noise estimate that all filters share: HH of one bior4.4 step and
// its MAD.
#include <algorithm>

#include "cuda/launch.cuh"
#include "filters/wavelet/subband_cuda.hpp"
#include "noise/estimate_cuda.hpp"
#include "noise/median_cuda.hpp"

namespace quietframe::noise {
namespace {

constexpr int threads = 512;
constexpr int warps = threads / 32;
constexpr int values_a_block = threads * 8;
constexpr int most_blocks =
    264;  // two a multiprocessor on the largest devices: each reads the histogram once

struct Args {
  MedianInput in;
  CudaSigma sigma;
};

struct Shared {
  std::uint32_t histogram[fine_bins];
  std::uint32_t candidates[candidate_limit];
  std::uint32_t warp_sum[warps];
  std::uint32_t bin[2], before[2];
  std::uint32_t found, base, lowest, highest;
  bool last;
};

/// The range of keys that the two middle values are in, and their ranks (from 0) among the `count` keys of
/// the range.
struct Range {
  std::uint32_t first, size;  ///< size 0x80000000: all keys
  std::uint32_t rank[2];
  std::uint32_t count;
};

// Finds the bins of two ranks: s.bin, s.before. `n` bins, ranks below their sum. Ends with a barrier.
__device__ void find_ranks(Shared& s, const std::uint32_t* histogram, int n, const std::uint32_t (&rank)[2]) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int share = (n + threads - 1) / threads;
  const int begin = min(thread * share, n), end = min(begin + share, n);
  std::uint32_t own = 0;
  for (int i = begin; i < end; ++i) own += histogram[i];
  std::uint32_t sum = own;  // inclusive over the warp, then over the block
  for (int d = 1; d < 32; d *= 2) {
    const std::uint32_t below = __shfl_up_sync(0xffffffffU, sum, d);
    if (lane >= d) sum += below;
  }
  if (lane == 31) s.warp_sum[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += s.warp_sum[w];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    std::uint32_t before = sum - own;
    if (rank[k] < before || rank[k] >= sum) continue;
    int i = begin;
    while (before + histogram[i] <= rank[k]) before += histogram[i++];
    s.bin[k] = static_cast<std::uint32_t>(i);
    s.before[k] = before;
  }
  __syncthreads();
}

__device__ std::uint32_t start_of(std::uint32_t bin) {
  return bin == 0 ? 0U : (first_bin + bin) << key_shift;
}
__device__ std::uint32_t end_of(std::uint32_t bin) {
  return bin == bins - 1 ? 0x80000000U : (first_bin + bin + 1) << key_shift;
}

// From the frame's histogram, by every block alike. s.candidates serves as its copy.
__device__ Range coarse_range(Shared& s, const MedianState& state, int count) {
  static_assert(bins <= candidate_limit);
  for (int i = static_cast<int>(threadIdx.x); i < bins; i += threads)
    s.candidates[i] = __ldcg(&state.histogram[i]);
  __syncthreads();
  const auto n = static_cast<std::uint32_t>(count);
  const std::uint32_t rank[2] = {(n - 1) / 2, n / 2};
  find_ranks(s, s.candidates, bins, rank);
  Range r;
  r.first = start_of(s.bin[0]);
  r.size = end_of(s.bin[1]) - r.first;
  r.rank[0] = rank[0] - s.before[0];
  r.rank[1] = rank[1] - s.before[0];
  r.count = s.candidates[s.bin[0]];
  if (s.bin[1] != s.bin[0]) r.count += s.candidates[s.bin[1]];  // the bins between are empty
  __syncthreads();
  return r;
}

__device__ int bits_below(std::uint32_t size) { return max(0, 32 - __clz(static_cast<int>(size - 1)) - 11); }

// One more in `histogram[bin]`; flat areas give whole warps one bin.
__device__ void count_bin(std::uint32_t* histogram, std::uint32_t bin) {
  const unsigned active = __activemask();
  int same;
  __match_all_sync(active, bin, &same);
  if (!same)
    atomicAdd(&histogram[bin], 1U);
  else if (static_cast<int>(threadIdx.x) % 32 == __ffs(static_cast<int>(active)) - 1)
    atomicAdd(&histogram[bin], static_cast<std::uint32_t>(__popc(active)));
}

template <class Key>
__device__ void count_range(Shared& s, const Range& r, Key key, std::uint32_t n) {
  const int shift = bits_below(r.size);
  for (int i = static_cast<int>(threadIdx.x); i < fine_bins; i += threads) s.histogram[i] = 0;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < n; i += threads)
    if (const std::uint32_t at = key(i) - r.first; at < r.size) count_bin(s.histogram, at >> shift);
  __syncthreads();
}

// Narrows the range to one bin of s.histogram, or says that the middle two are in different bins.
__device__ bool narrow(Shared& s, Range& r) {
  const int shift = bits_below(r.size);
  find_ranks(s, s.histogram, fine_bins, r.rank);
  const bool one = s.bin[0] == s.bin[1];
  if (one) {
    r.count = s.histogram[s.bin[0]];
    r.rank[0] -= s.before[0];
    r.rank[1] -= s.before[0];
    const std::uint32_t start = s.bin[0] << shift;
    r.first += start;
    r.size = min(1U << shift, r.size - start);
  }
  __syncthreads();
  return one;
}

// The middle two among n keys of which r holds some. `counted`: s.histogram is r's already.
template <class Key>
__device__ float2 select(Shared& s, Range r, Key key, std::uint32_t n, bool counted) {
  for (;;) {
    if (!counted) count_range(s, r, key, n);
    counted = false;
    const int shift = bits_below(r.size);
    if (!narrow(s, r)) {
      const std::uint32_t border = r.first + (s.bin[1] << shift);
      if (threadIdx.x == 0) s.highest = r.first, s.lowest = 0x7fffffffU;
      __syncthreads();
      for (std::uint32_t i = threadIdx.x; i < n; i += threads) {
        const std::uint32_t k = key(i);
        if (k - r.first >= r.size) continue;
        if (k < border)
          atomicMax(&s.highest, k);
        else
          atomicMin(&s.lowest, k);
      }
      __syncthreads();
      return make_float2(__uint_as_float(s.highest), __uint_as_float(s.lowest));
    }
    if (shift == 0) return make_float2(__uint_as_float(r.first), __uint_as_float(r.first));
  }
}

// Puts this block's share of the values in range into state.candidates.
__device__ void gather(Shared& s, MedianState& state, const float* values, int count, const Range& r) {
  if (threadIdx.x == 0) s.found = 0;
  __syncthreads();
  auto look = [&](float v) {
    if (const std::uint32_t k = key_of(v); k - r.first < r.size) s.candidates[atomicAdd(&s.found, 1U)] = k;
  };
  const int quads = count / 4, stride = static_cast<int>(gridDim.x) * threads;
  const int thread = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
#pragma unroll 2
  for (int i = thread; i < quads; i += stride) {
    const float4 v = __ldcg(reinterpret_cast<const float4*>(values) + i);
    look(v.x), look(v.y), look(v.z), look(v.w);
  }
  if (thread < count % 4) look(__ldcg(values + 4 * quads + thread));
  __syncthreads();
  if (s.found == 0) return;
  if (threadIdx.x == 0) s.base = atomicAdd(&state.found, s.found);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < s.found; i += threads)
    __stcg(&state.candidates[s.base + i], s.candidates[i]);
}

// Where a bin is too full to be gathered (flat pictures), all blocks make its own histogram.
__device__ void count_fine(Shared& s, MedianState& state, const float* values, int count, const Range& r) {
  const int shift = bits_below(r.size);
  for (int i = static_cast<int>(threadIdx.x); i < fine_bins; i += threads) s.histogram[i] = 0;
  __syncthreads();
  const int stride = static_cast<int>(gridDim.x) * threads;
  for (int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x); i < count; i += stride)
    if (const std::uint32_t at = key_of(__ldcg(values + i)) - r.first; at < r.size)
      count_bin(s.histogram, at >> shift);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < fine_bins; i += threads)
    if (s.histogram[i]) atomicAdd(&state.fine[i], s.histogram[i]);
}

__device__ float2 finish(Shared& s, MedianState& state, const float* values, int count, const Range& r) {
  if (r.count <= candidate_limit) {
    for (std::uint32_t i = threadIdx.x; i < r.count; i += threads)
      s.candidates[i] = __ldcg(&state.candidates[i]);
    __syncthreads();
    return select(
        s, r, [&](std::uint32_t i) { return s.candidates[i]; }, r.count, false);
  }
  for (int i = static_cast<int>(threadIdx.x); i < fine_bins; i += threads)
    s.histogram[i] = __ldcg(&state.fine[i]);
  __syncthreads();
  return select(
      s, r, [&](std::uint32_t i) { return key_of(__ldcg(values + i)); }, static_cast<std::uint32_t>(count),
      true);
}

__global__ void __launch_bounds__(threads) sigma_kernel(const __grid_constant__ Args a) {
  __shared__ Shared s;
  const int c = static_cast<int>(blockIdx.y);
  MedianState& state = *a.in.state[c];
  const float* values = a.in.values[c];
  cuda::let_next_kernel_start();
  cuda::wait_for_previous_kernel();
  const Range r = coarse_range(s, state, a.in.count);
  if (r.count <= candidate_limit)
    gather(s, state, values, a.in.count, r);
  else
    count_fine(s, state, values, a.in.count, r);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) s.last = atomicAdd(&state.arrived, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!s.last) return;
  __threadfence();
  const float2 middle = finish(s, state, values, a.in.count, r);
  if (threadIdx.x != 0) return;
  const float median = a.in.count % 2 == 1 ? middle.y : (middle.x + middle.y) * 0.5f;
  const float sigma = __fdiv_rn(median, 0.6745f);
  a.sigma.device[c] = sigma;
  if (a.sigma.report) a.sigma.report[c] = sigma;
}

__global__ void __launch_bounds__(threads) count_kernel(const __grid_constant__ MedianInput in) {
  __shared__ std::uint32_t shared[bins];
  BlockHistogram histogram(shared);
  __syncthreads();
  const int c = static_cast<int>(blockIdx.y), stride = static_cast<int>(gridDim.x) * threads;
  for (int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x); i < in.count;
       i += stride)
    histogram.add(in.values[c][i]);
  __syncthreads();
  histogram.merge(in.state[c]->histogram);
}

dim3 grid_of(const MedianInput& in) {
  return dim3(static_cast<unsigned>(std::min((in.count + values_a_block - 1) / values_a_block, most_blocks)),
              static_cast<unsigned>(in.channels));
}

}  // namespace

void enqueue_clear(const MedianInput& in, cudaStream_t stream) {
  // The states of a group stand one after another.
  QF_CUDA_CHECK(cudaMemset2DAsync(in.state[0], sizeof(MedianState), 0, zeroed_bytes,
                                  static_cast<std::size_t>(in.channels), stream));
}

void enqueue_count(const MedianInput& in, cudaStream_t stream) {
  cuda::launch(count_kernel, grid_of(in), threads, 0, false, stream, in);
}

void enqueue_sigma(const MedianInput& in, const CudaSigma& sigma, bool overlap, cudaStream_t stream) {
  cuda::launch(sigma_kernel, grid_of(in), threads, 0, overlap, stream, Args{in, sigma});
}

}  // namespace quietframe::noise

namespace quietframe {

std::size_t estimate_sigma_cuda_scratch(const CudaShape& shape) {
  return wavelet::measure_scratch(shape.width, shape.height, shape.channels);
}

void estimate_sigma_cuda(const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                         cudaStream_t stream) {
  wavelet::enqueue_measure(wavelet::Basis::bior44, in, sigma, scratch, stream);
}

}  // namespace quietframe
