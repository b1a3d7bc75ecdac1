// The ordinal median: any window, any rank, any type, in a time that does not depend on the samples. A block
// sorts the footprint of its tile once, so that every sample has a rank of its own; histograms of the rank's
// top bits slide over the tile; the last step walks the few samples of one bin in order.
//
// Per pixel: footprint / tile radix-sorted samples, one step of a histogram of 64 bins spread over a warp,
// and a walk of footprint / 64 samples at most. The histogram of columns under a sliding window is Perreault
// and Hebert's (2007); ranks instead of values make the bins equally full whatever the samples are, and
// floats no harder than bytes.
#pragma once
#include <cub/block/block_radix_sort.cuh>

#include "filters/median/samples.cuh"

namespace quietframe::median {

/// TileWidth x TileHeight outputs. Threads threads sort a footprint of at most Threads * Items samples; then
/// each warp filters Rows rows.
template <int TileWidth, int TileHeight, int Threads, int Items, int Rows>
struct OrdinalShape {
  static constexpr int tile_width = TileWidth, tile_height = TileHeight, threads = Threads, items = Items;
  static constexpr int rows = Rows, warps = tile_height / rows;  ///< that filter
  static constexpr int capacity = threads * items;
  static constexpr int bins = 64, bin_size = capacity / bins;
  static constexpr int column_bytes = bins + 4;  ///< odd in words: lanes that update 32 columns meet 32 banks
  static_assert(tile_height % rows == 0 && warps * 32 <= threads && tile_width % 32 == 0 &&
                bin_size % 4 == 0);

  static bool fits(const Window& window) {
    const int w = tile_width + window.width - 1, h = tile_height + window.height - 1;
    return w < 255 && h < 255 && w * h <= capacity;
  }
};

// Sorts 16 bits of a key in the upper half of a word, with the position in the lower half; stable.
template <class Shape>
using OrdinalSort = cub::BlockRadixSort<std::uint32_t, Shape::threads, Shape::items>;

/// Parts of dynamic shared memory, in bytes from its start. Sorting and histograms use the first part in
/// turn.
template <class Shape>
struct OrdinalLayout {
  int order, bin, found, bytes;

  QF_HD OrdinalLayout(int footprint_width, int footprint_height) {
    auto align = [](int n) { return (n + 15) / 16 * 16; };
    const int sort = static_cast<int>(sizeof(typename OrdinalSort<Shape>::TempStorage));
    const int columns = Shape::warps * (footprint_width + 1) * Shape::column_bytes;
    order = align(sort > columns ? sort : columns);
    bin = order + align(2 * Shape::capacity);
    found = bin + align(footprint_width * footprint_height);
    bytes = found + Shape::warps * Shape::tile_width * 4;
  }
};

/// A position of the footprint: column in the low byte, row in the high one.
inline constexpr std::uint32_t no_position = 0xffff;

// Sorts the footprint: order[rank] is the position of the sample of that rank, bin[y * width + x] its top
// bits. Floats take two turns, the lower half of their keys first; the upper halves wait in `order`.
template <class Shape>
__device__ void rank_footprint(const Launch& job, int x0, int y0, int width, int height, void* temporary,
                               std::uint16_t* order, std::uint8_t* bin) {
  using Sort = OrdinalSort<Shape>;
  auto& storage = *static_cast<typename Sort::TempStorage*>(temporary);
  const bool wide = job.in.type == SampleType::f32;
  std::uint32_t items[Shape::items];
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    const int at = i * Shape::threads + static_cast<int>(threadIdx.x);
    const int y = at / width, x = at - y * width;
    // What is beyond the footprint sorts among the largest keys, and its position is in no window.
    items[i] = ~std::uint32_t{0};
    if (y >= height) continue;
    const std::uint32_t key = load_key(job.in, static_cast<int>(blockIdx.z), x0 + x, y0 + y);
    items[i] = key << 16 | static_cast<std::uint32_t>(y << 8 | x);
    if (wide) order[at] = static_cast<std::uint16_t>(key >> 16);
  }
  // Only the bits in use: the time is proportional to them.
  Sort(storage).Sort(items, 16, job.in.type == SampleType::u8 ? 24 : 32);
  __syncthreads();
  if (wide) {
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      const std::uint32_t position = items[i] & 0xffffu;
      if (position != no_position)
        items[i] =
            static_cast<std::uint32_t>(order[(position >> 8) * width + (position & 255)]) << 16 | position;
    }
    Sort(storage).Sort(items, 16, 32);
    __syncthreads();
  }
  const int first = static_cast<int>(threadIdx.x) * Shape::items;
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    const std::uint32_t position = items[i] & 0xffffu;
    order[first + i] = static_cast<std::uint16_t>(position);
    if (position != no_position)
      bin[(position >> 8) * width + (position & 255)] =
          static_cast<std::uint8_t>((first + i) / Shape::bin_size);
  }
  __syncthreads();
}

// Histograms of the columns under one row of windows, owned by a warp.
template <class Shape>
struct Columns {
  std::uint8_t* counts;  ///< [column][column_bytes]
  const std::uint8_t* bin;
  int width;  ///< of the footprint

  __device__ std::uint8_t& count(int x, int y) const {
    return counts[x * Shape::column_bytes + bin[y * width + x]];
  }

  __device__ void fill(int y, int height) const {
    auto* words = reinterpret_cast<std::uint32_t*>(counts);
    for (int i = lane(); i < width * Shape::column_bytes / 4; i += 32) words[i] = 0;
    __syncwarp();
    for (int x = lane(); x < width; x += 32)
      for (int j = 0; j < height; ++j) ++count(x, y + j);
    __syncwarp();
  }

  __device__ void slide(int leaving, int entering) const {
    __syncwarp();
    for (int x = lane(); x < width; x += 32) {
      --count(x, leaving);
      ++count(x, entering);
    }
    __syncwarp();
  }

  /// This lane's two bins of column x, as a pair of 16-bit counts.
  __device__ std::uint32_t pair(int x) const {
    const std::uint32_t c =
        *reinterpret_cast<const std::uint16_t*>(counts + x * Shape::column_bytes + 2 * lane());
    return __byte_perm(c, 0, 0x4140);
  }

  __device__ static int lane() { return static_cast<int>(threadIdx.x % 32); }
};

// Where the wanted rank of one window falls: the lane that holds it writes (bin, rank within the bin).
__device__ inline void report_bin(std::uint32_t before, std::uint32_t pair, std::uint32_t rank,
                                  std::uint32_t* found) {
  const std::uint32_t low = pair & 0xffffu;
  if (rank < before || rank >= before + low + (pair >> 16)) return;
  const std::uint32_t second = rank - before >= low;
  *found = (2 * (threadIdx.x % 32) + second) << 16 | (rank - before - (second ? low : 0));
}

// Slides a window along a row, two steps at a time: both prefix sums over the lanes ride in one word, for a
// window has fewer than 65536 samples.
template <class Shape>
__device__ void sweep_row(const Columns<Shape>& columns, const Window& window, std::uint32_t* found) {
  std::uint32_t here = 0;
  for (int x = 0; x < window.width; ++x) here += columns.pair(x);
  const auto rank = static_cast<std::uint32_t>(window.rank);
  for (int x = 0; x < Shape::tile_width; x += 2) {
    const std::uint32_t next = here + columns.pair(x + window.width) - columns.pair(x);
    const std::uint32_t own = __byte_perm(here, next, 0x5410) + __byte_perm(here, next, 0x7632);
    std::uint32_t sum = own;
    for (int d = 1; d < 32; d *= 2) {
      const std::uint32_t left = __shfl_up_sync(0xffffffffu, sum, d);
      if (threadIdx.x % 32 >= d) sum += left;
    }
    const std::uint32_t before = sum - own;
    report_bin(before & 0xffffu, here, rank, found + x);
    report_bin(before >> 16, next, rank, found + x + 1);
    // The last step reads one column past the footprint; nothing comes of it.
    here = next + columns.pair(x + 1 + window.width) - columns.pair(x + 1);
  }
  __syncwarp();
}

// The position of the sample with the found rank within the found bin, counting only what is in the window.
template <class Shape>
__device__ std::uint32_t walk_bin(const std::uint16_t* order, std::uint32_t found, int x, int y,
                                  const Window& window) {
  const std::uint16_t* list = order + (found >> 16) * Shape::bin_size;
  int left = static_cast<int>(found & 0xffffu);
  for (int i = 0;; i += 4) {
    const uint2 four = *reinterpret_cast<const uint2*>(list + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t p = ((j < 2 ? four.x : four.y) >> (j % 2 * 16)) & 0xffffu;
      const bool inside =
          (p & 255) - static_cast<std::uint32_t>(x) < static_cast<std::uint32_t>(window.width) &&
          (p >> 8) - static_cast<std::uint32_t>(y) < static_cast<std::uint32_t>(window.height);
      left -= inside;
      if (left < 0) return p;
    }
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads) ordinal_kernel(const __grid_constant__ Launch job) {
  extern __shared__ __align__(16) std::byte shared[];
  const Window window = job.window;
  const int width = Shape::tile_width + window.width - 1, height = Shape::tile_height + window.height - 1;
  const OrdinalLayout<Shape> layout(width, height);
  auto* order = reinterpret_cast<std::uint16_t*>(shared + layout.order);
  auto* bin = reinterpret_cast<std::uint8_t*>(shared + layout.bin);
  const int tile_x = static_cast<int>(blockIdx.x) * Shape::tile_width;
  const int tile_y = static_cast<int>(blockIdx.y) * Shape::tile_height;
  const int left = tile_x - window.width / 2, top = tile_y - window.height / 2;
  rank_footprint<Shape>(job, left, top, width, height, shared, order, bin);

  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  if (warp >= Shape::warps) return;
  auto* found = reinterpret_cast<std::uint32_t*>(shared + layout.found) + warp * Shape::tile_width;
  const Columns<Shape> columns{
      reinterpret_cast<std::uint8_t*>(shared) + warp * (width + 1) * Shape::column_bytes, bin, width};
  const int c = static_cast<int>(blockIdx.z);
  for (int r = 0; r < Shape::rows; ++r) {
    const int y = warp * Shape::rows + r;
    if (tile_y + y >= job.out.height) break;
    if (r == 0)
      columns.fill(y, window.height);
    else
      columns.slide(y - 1, y + window.height - 1);
    sweep_row<Shape>(columns, window, found);
    for (int x = lane; x < Shape::tile_width && tile_x + x < job.out.width; x += 32) {
      const std::uint32_t p = walk_bin<Shape>(order, found[x], x, y, window);
      const std::uint32_t key =
          load_key(job.in, c, left + static_cast<int>(p & 255), top + static_cast<int>(p >> 8));
      store_key(job, c, tile_x + x, tile_y + y, key);
    }
  }
}

template <class Shape>
void launch_ordinal(const Launch& job, cudaStream_t stream) {
  const OrdinalLayout<Shape> layout(Shape::tile_width + job.window.width - 1,
                                    Shape::tile_height + job.window.height - 1);
  cudaFuncSetAttribute(ordinal_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, layout.bytes);
  const dim3 grid((job.out.width + Shape::tile_width - 1) / Shape::tile_width,
                  (job.out.height + Shape::tile_height - 1) / Shape::tile_height, job.out.channels);
  ordinal_kernel<Shape><<<grid, Shape::threads, layout.bytes, stream>>>(job);
}

}  // namespace quietframe::median
