// HH or LL of a picture in one launch: rows are filtered from the samples into shared memory, columns from
// there.
#include "filters/wavelet/subband_cuda.hpp"

#include "cuda/launch.cuh"
#include "filters/wavelet/tile.cuh"

namespace quietframe::wavelet {
namespace {

/// A block makes `columns` x `rows` coefficients, each thread `run` of one column.
template <int Columns, int Rows, int Run>
struct Tile {
  static constexpr int columns = Columns, rows = Rows, run = Run;
  static constexpr int threads = Columns * Rows / Run;
};
using LargeTile = Tile<64, 32, 8>;
using SmallTile = Tile<32, 16, 2>;  // enough blocks for every multiprocessor from 512x512 on

struct Args {
  Channels in;
  GroupView ll;               ///< where LL goes
  noise::MedianInput median;  ///< where HH goes, and its counts
};

template <Basis B, SampleType S, class T, bool High>
__global__ void __launch_bounds__(T::threads) subband_kernel(const __grid_constant__ Args a) {
  using F = Fir<B>;
  constexpr int sample_rows = 2 * T::rows + F::taps - 2;
  constexpr int back = 2 * F::half - 2;                  // samples before the first coefficient's pair
  constexpr int pad = (4 - back % 4) % 4;                // so that runs start on multiples of four
  constexpr int samples = (8 + back + pad + 3) / 4 * 4;  // for a run of four coefficients
  __shared__ float filtered[sample_rows][T::columns];
  __shared__ std::uint32_t bins[High ? noise::bins : 1];
  const int c = static_cast<int>(blockIdx.z), thread = static_cast<int>(threadIdx.x);
  const int first_column = static_cast<int>(blockIdx.x) * T::columns,
            first_row = static_cast<int>(blockIdx.y) * T::rows;
  const int width = coefficients(a.in.group.width, F::taps),
            height = coefficients(a.in.group.height, F::taps);
  cuda::let_next_kernel_start();

  constexpr int runs = T::columns / 4;
  for (int i = thread; i < sample_rows * runs; i += T::threads) {
    const int row = i / runs, column = i % runs * 4;
    if (first_column + column >= width) continue;
    float x[samples], coefficient[4], shifted[samples - pad];
    load_run<S>(a.in, c, 2 * (first_column + column) - back - pad, 2 * first_row - back + row, x);
#pragma unroll
    for (int k = 0; k < samples - pad; ++k) shifted[k] = x[k + pad];
    F::template analyse<High>(shifted, coefficient);
    *reinterpret_cast<float4*>(&filtered[row][column]) =
        make_float4(coefficient[0], coefficient[1], coefficient[2], coefficient[3]);
  }
  if constexpr (High) {
    noise::BlockHistogram histogram(bins);
    __syncthreads();
    const int column = thread % T::columns, row = thread / T::columns * T::run;
    float x[2 * T::run + F::taps - 2], coefficient[T::run];
#pragma unroll
    for (int k = 0; k < 2 * T::run + F::taps - 2; ++k) x[k] = filtered[2 * row + k][column];
    F::template analyse<High>(x, coefficient);
    float* to = const_cast<float*>(a.median.values[c]);
    const int at = first_column + column;
#pragma unroll
    for (int k = 0; k < T::run; ++k) {
      const int y = first_row + row + k;
      if (at >= width || y >= height) break;
      to[y * width + at] = coefficient[k];
      histogram.add(coefficient[k]);
    }
    __syncthreads();
    histogram.merge(a.median.state[c]->histogram);
  } else {
    __syncthreads();
    const int column = thread % T::columns, row = thread / T::columns * T::run;
    float x[2 * T::run + F::taps - 2], coefficient[T::run];
#pragma unroll
    for (int k = 0; k < 2 * T::run + F::taps - 2; ++k) x[k] = filtered[2 * row + k][column];
    F::template analyse<High>(x, coefficient);
    const int at = first_column + column;
#pragma unroll
    for (int k = 0; k < T::run; ++k) {
      const int y = first_row + row + k;
      if (at >= width || y >= height) break;
      *reinterpret_cast<float*>(a.ll.channel[c] + y * a.ll.stride[c] + std::ptrdiff_t{at} * 4) =
          coefficient[k];
    }
  }
}

template <Basis B, SampleType S, class T, bool High>
void launch_tiles(const Args& a, cudaStream_t stream) {
  const int width = coefficients(a.in.group.width, Fir<B>::taps),
            height = coefficients(a.in.group.height, Fir<B>::taps);
  const dim3 grid(static_cast<unsigned>((width + T::columns - 1) / T::columns),
                  static_cast<unsigned>((height + T::rows - 1) / T::rows),
                  static_cast<unsigned>(a.in.group.channels));
  cuda::launch(subband_kernel<B, S, T, High>, grid, T::threads, 0, false, stream, a);
}

template <bool High>
void enqueue(Basis basis, const Args& a, cudaStream_t stream) {
  const auto& g = a.in.group;
  const bool large = static_cast<long>(g.width) * g.height * g.channels > 1024L * 1024;
  with_sample_type(g.type, [&]<SampleType S>() {
    with_basis(basis, [&]<Basis B>() {
      if constexpr (B == Basis::bior44)
        if (large) return launch_tiles<B, S, LargeTile, High>(a, stream);
      launch_tiles<B, S, SmallTile, High>(a, stream);
    });
  });
}

std::size_t align(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

std::size_t plane_bytes(int width, int height, int taps) {
  return align(sizeof(float) * static_cast<std::size_t>(coefficients(width, taps)) *
               static_cast<std::size_t>(coefficients(height, taps)));
}

}  // namespace

std::size_t measure_scratch(int width, int height, int channels) {
  return static_cast<std::size_t>(channels) *
         (sizeof(noise::MedianState) + plane_bytes(width, height, max_taps));
}

void enqueue_measure(Basis basis, const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                     cudaStream_t stream) {
  const int taps = bank_of(basis).taps;
  noise::MedianInput median;
  median.channels = in.channels;
  median.count = coefficients(in.width, taps) * coefficients(in.height, taps);
  auto* states = reinterpret_cast<noise::MedianState*>(scratch);
  std::byte* planes = scratch + static_cast<std::size_t>(in.channels) * sizeof(noise::MedianState);
  for (int c = 0; c < in.channels; ++c) {
    median.state[c] = states + c;
    median.values[c] = reinterpret_cast<const float*>(planes + static_cast<std::size_t>(c) *
                                                                   plane_bytes(in.width, in.height, taps));
  }
  noise::enqueue_clear(median, stream);
  enqueue<true>(basis, Args{channels_of(in), {}, median}, stream);
  noise::enqueue_sigma(median, sigma, cuda::device_overlaps_kernels(), stream);
}

void enqueue_ll(Basis basis, const GroupView& in, const GroupView& ll, cudaStream_t stream) {
  enqueue<false>(basis, Args{channels_of(in), ll, {}}, stream);
}

}  // namespace quietframe::wavelet
