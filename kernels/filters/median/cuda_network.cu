// The data-oblivious median for one square window (QF_WINDOW, from meson): blocks that sort columns, share
// them, and run the generated selection networks in registers.
//
// A thread owns four image columns while lists are built and a tile of 4 x 2 outputs when they are used,
// twice that for 8 and 16 bits: min.u16x2 and max.u16x2 work on two rows of tiles at once, at the same rate
// as one. Lists lie in shared memory element by element, threads side by side, so that no access has a bank
// conflict.
#include "cuda/error.hpp"
#include "filters/median/cuda_words.cuh"

namespace quietframe::median {
namespace {

template <int K, class Ops>
struct Network;
#include QF_NETWORK

constexpr int side = QF_WINDOW, radius = side / 2, threads = 128;
/// Copies of the code that sorts a column and merges a pair. A block's program must fit the instruction
/// cache: at 21x21 straight-line code took three times as long as its operations account for.
constexpr int copies = side > 19 ? 1 : 4;

template <class Ops>
struct Block {
  using Net = Network<side, Ops>;
  using Word = typename Ops::Word;
  static constexpr int height = Net::column_height;
  static constexpr int rows = side + 1 + 2 * (Ops::tiles - 1);  ///< that a thread reads
  /// Footprint column c of the tile of thread t is column (c + shift) % 4 of thread t + (c + shift) / 4:
  /// shift makes reads and writes start at multiples of four.
  static constexpr int lead = (radius + 3) / 4, shift = 4 * lead - radius;
  static constexpr int halo = (side + 2 + shift) / 4;  ///< threads that own columns and no tile
  static constexpr int tiles = threads - halo;

  // Lists in shared memory, by their first word for thread 0. Eights take the place of fours.
  static constexpr int singles = 0;
  static constexpr int pairs = singles + 4 * height * threads;
  static constexpr int fours = pairs + 4 * height * threads;
  static constexpr int edges = fours + (Net::eights ? 8 : Net::fours ? 4 : 0) * height * threads;
  static constexpr int words = edges + 8 * threads;

  Word* shared;
  int thread;

  __device__ Word& single(int position, int i) const {
    return shared[singles + (position % 4 * height + i) * threads + thread + position / 4];
  }
  __device__ Word& pair(int position, int i) const {
    return shared[pairs + (position % 4 / 2 * 2 * height + i) * threads + thread + position / 4];
  }
  __device__ Word& four(int owner, int i) const { return shared[fours + i * threads + thread + owner]; }
  __device__ Word& edge(int bottom, int position) const {
    return shared[edges + (4 * bottom + position % 4) * threads + thread + position / 4];
  }
};

/// What the generated tile program reads and writes, by footprint column.
template <class Ops>
struct Lists {
  using B = Block<Ops>;
  using Word = typename Ops::Word;
  B block;
  Word (&out)[2][4];

  __device__ Word single(int c, int i) const { return block.single(c + B::shift, i); }
  __device__ Word pair(int c, int i) const { return block.pair(c + B::shift, i); }
  __device__ Word four(int c, int i) const { return block.four((c + B::shift) / 4, i); }
  __device__ Word eight(int c, int i) const { return block.four((c + B::shift) / 4, i); }
  __device__ Word top(int c) const { return block.edge(0, c + B::shift); }
  __device__ Word bottom(int c) const { return block.edge(1, c + B::shift); }
  __device__ void result(int x, int y, Word v) const { out[y][x] = v; }
};

// Sorts the columns from x on and shares them, with the rows above and below.
template <class Ops>
__device__ void sort_columns(const Block<Ops>& block, const GroupView& v, bool wide, int x, int y) {
  using B = Block<Ops>;
  using Word = typename Ops::Word;
  typename Ops::Four rows[B::rows];
  with_type_of<Ops>(v, [&]<SampleType S>() { load_rows<Ops, S>(v, wide, x, y, rows); });
#pragma unroll(copies)
  for (int c = 0; c < 4; ++c) {
    Word column[B::height];
#pragma unroll
    for (int i = 0; i < B::height; ++i) column[i] = Ops::pack(rows, c, i + 1);
    B::Net::sort_column(column);
#pragma unroll
    for (int i = 0; i < B::height; ++i) block.single(c, i) = column[i];
    block.edge(0, c) = Ops::pack(rows, c, 0);
    block.edge(1, c) = Ops::pack(rows, c, side);
  }
  __syncthreads();
}

// Merges this thread's shared lists. Those that would reach beyond the last thread are used by no tile, and
// made of what that thread has.
template <class Ops>
__device__ void merge_groups(const Block<Ops>& block) {
  using B = Block<Ops>;
  using Word = typename Ops::Word;
  const Block<Ops> next{block.shared, min(block.thread + 1, threads - 1)};
  auto of = [&](int position) -> const Block<Ops>& { return position < 4 ? block : next; };
#pragma unroll(copies)
  for (int slot = 0; slot < 2; ++slot) {
    const int p = 2 * slot + (1 + B::shift) % 2;
    B::Net::merge_pair([&](int i) { return block.single(p, i); },
                       [&](int i) { return of(p + 1).single((p + 1) % 4, i); },
                       [&](int i, Word v) { block.pair(p, i) = v; });
  }
  __syncthreads();
  if constexpr (B::Net::fours) {
    constexpr int p = (3 + B::shift) % 4;
    B::Net::merge_four([&](int i) { return block.pair(p, i); },
                       [&](int i) { return of(p + 2).pair((p + 2) % 4, i); },
                       [&](int i, Word v) { block.four(0, i) = v; });
    __syncthreads();
  }
  if constexpr (B::Net::eights) {
    Word eight[8 * B::height];
    B::Net::merge_eight([&](int i) { return block.four(0, i); }, [&](int i) { return next.four(0, i); },
                        [&](int i, Word v) { eight[i] = v; });
    __syncthreads();
    B::Net::for_eight([&](int i) { block.four(0, i) = eight[i]; });
    __syncthreads();
  }
}

template <class Ops>
__global__ void __launch_bounds__(threads) network_kernel(const __grid_constant__ Launch job, Access access) {
  using B = Block<Ops>;
  using Word = typename Ops::Word;
  extern __shared__ __align__(16) std::byte shared[];
  const B block{reinterpret_cast<Word*>(shared), static_cast<int>(threadIdx.x)};
  const int x = 4 * (static_cast<int>(blockIdx.x) * B::tiles + block.thread);
  const int y = static_cast<int>(blockIdx.y) * 2 * Ops::tiles;
  sort_columns(block, job.in, access.wide_in, x - 4 * B::lead, y - radius);
  merge_groups(block);

  Word out[2][4] = {};
  const bool inside = block.thread < B::tiles && x < job.out.width;
  if (inside) B::Net::filter_tile(Lists<Ops>{block, out});
  const bool wide = access.wide_out && x + 4 <= job.out.width;
  if (inside && wide) store_wide<Ops>(job, x, y, out);
  __syncthreads();
  if (!inside || wide) return;
  Word* words = block.shared + block.thread;
#pragma unroll
  for (int i = 0; i < 8; ++i) words[i * threads] = out[i / 4][i % 4];
  store_each<Ops, 2>(job, x, y, words, threads);
}

template <class Ops>
void launch(const Launch& job, cudaStream_t stream) {
  using B = Block<Ops>;
  constexpr int bytes = B::words * static_cast<int>(sizeof(typename Ops::Word));
  QF_CUDA_CHECK(
      cudaFuncSetAttribute(network_kernel<Ops>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const dim3 grid((job.out.width + 4 * B::tiles - 1) / (4 * B::tiles),
                  (job.out.height + 2 * Ops::tiles - 1) / (2 * Ops::tiles), job.out.channels);
  network_kernel<Ops><<<grid, threads, bytes, stream>>>(job, Access(job));
  QF_CUDA_CHECK_LAUNCH("network_kernel");
}

}  // namespace

template <int Window>
void run_network(const Launch& job, cudaStream_t stream) {
  if (job.in.type == SampleType::f32)
    launch<Float32>(job, stream);
  else
    launch<Packed16<2>>(job, stream);
}
template void run_network<side>(const Launch& job, cudaStream_t stream);

}  // namespace quietframe::median
