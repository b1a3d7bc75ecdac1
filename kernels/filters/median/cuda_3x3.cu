// The 3x3 median in registers, 15 min/max a sample: columns are sorted once for the three windows they are
// in.
//
// The median of three sorted columns is the middle one of: the largest of the lowest, the middle of the
// middle ones, the smallest of the highest (Devillard 1998; Smith 1996). Two rows share the sorted pair of
// the samples between them, two neighbours share what their two common columns give. The kernel is bound by
// memory on the GPUs it was measured on, so a thread makes four rows of each tile to read little twice.
#include "cuda/error.hpp"
#include "filters/median/cuda_methods.hpp"
#include "filters/median/cuda_words.cuh"

namespace quietframe::median {
namespace {

constexpr int tile_rows = 4, threads = 128;
/// Lanes at either end of a warp have columns for their neighbours and no tile.
constexpr int warp_tiles = 30;

template <class Ops>
struct Column {
  using Word = typename Ops::Word;
  Word low, middle, high;

  /// Of three samples, two of which are sorted.
  static __device__ Column insert(Word a, Word low, Word high) {
    return {Ops::min(a, low), Ops::max(low, Ops::min(a, high)), Ops::max(a, high)};
  }
  __device__ Column of_lane(int offset) const {
    const int lane = static_cast<int>(threadIdx.x % 32) + offset;
    return {static_cast<Word>(__shfl_sync(~0u, low, lane)), static_cast<Word>(__shfl_sync(~0u, middle, lane)),
            static_cast<Word>(__shfl_sync(~0u, high, lane))};
  }
};

template <class Ops>
__device__ typename Ops::Word middle(typename Ops::Word a, typename Ops::Word low, typename Ops::Word high) {
  return Ops::max(low, Ops::min(a, high));
}
template <class Ops>
__device__ typename Ops::Word middle_of_any(typename Ops::Word a, typename Ops::Word b,
                                            typename Ops::Word c) {
  return middle<Ops>(c, Ops::min(a, b), Ops::max(a, b));
}

// Medians of the windows around columns b and c, which lie between a and d.
template <class Ops>
__device__ void two_medians(const Column<Ops>& a, const Column<Ops>& b, const Column<Ops>& c,
                            const Column<Ops>& d, typename Ops::Word* out) {
  const auto low = Ops::max(b.low, c.low), high = Ops::min(b.high, c.high);
  const auto first = Ops::min(b.middle, c.middle), second = Ops::max(b.middle, c.middle);
  out[0] =
      middle_of_any<Ops>(Ops::max(a.low, low), middle<Ops>(a.middle, first, second), Ops::min(a.high, high));
  out[1] =
      middle_of_any<Ops>(Ops::max(d.low, low), middle<Ops>(d.middle, first, second), Ops::min(d.high, high));
}

template <class Ops>
__device__ void filter_row(const Column<Ops> (&own)[4], typename Ops::Word (&out)[4]) {
  const auto left = own[3].of_lane(-1), right = own[0].of_lane(1);
  two_medians<Ops>(left, own[0], own[1], own[2], out);
  two_medians<Ops>(own[1], own[2], own[3], right, out + 2);
}

template <class Ops>
__global__ void __launch_bounds__(threads)
    kernel_3x3(const __grid_constant__ Launch job, const Access access) {
  using Word = typename Ops::Word;
  __shared__ Word each[4 * tile_rows * threads];
  const int warp = static_cast<int>((blockIdx.x * threads + threadIdx.x) / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int x = 4 * (warp * warp_tiles + lane - 1), y = static_cast<int>(blockIdx.y) * tile_rows * Ops::tiles;

  typename Ops::Four rows[tile_rows * Ops::tiles + 2];
  with_type_of<Ops>(job.in,
                    [&]<SampleType S>() { load_rows<Ops, S>(job.in, access.wide_in, x, y - 1, rows); });
  Word out[tile_rows][4];
#pragma unroll
  for (int r = 0; r < tile_rows; r += 2) {
    Column<Ops> upper[4], lower[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const Word a = Ops::pack(rows, c, r + 1), b = Ops::pack(rows, c, r + 2);
      const Word low = Ops::min(a, b), high = Ops::max(a, b);
      upper[c] = Column<Ops>::insert(Ops::pack(rows, c, r), low, high);
      lower[c] = Column<Ops>::insert(Ops::pack(rows, c, r + 3), low, high);
    }
    filter_row<Ops>(upper, out[r]);
    filter_row<Ops>(lower, out[r + 1]);
  }
  if (lane == 0 || lane > warp_tiles || x >= job.out.width) return;
  if (access.wide_out && x + 4 <= job.out.width) return store_wide<Ops>(job, x, y, out);
#pragma unroll
  for (int i = 0; i < 4 * tile_rows; ++i) each[i * threads + threadIdx.x] = out[i / 4][i % 4];
  store_each<Ops, tile_rows>(job, x, y, each + threadIdx.x, threads);
}

template <class Ops>
void launch(const Launch& job, cudaStream_t stream) {
  const int warps = (job.out.width + 4 * warp_tiles - 1) / (4 * warp_tiles);
  const dim3 grid((warps + threads / 32 - 1) / (threads / 32),
                  (job.out.height + tile_rows * Ops::tiles - 1) / (tile_rows * Ops::tiles), job.out.channels);
  kernel_3x3<Ops><<<grid, threads, 0, stream>>>(job, Access(job));
  QF_CUDA_CHECK_LAUNCH("kernel_3x3");
}

}  // namespace

void run_3x3(const Launch& job, cudaStream_t stream) {
  if (job.in.type == SampleType::f32)
    launch<Float32>(job, stream);
  else
    launch<Packed16<tile_rows>>(job, stream);
}

}  // namespace quietframe::median
