// The ordinal median: any window, any rank, any type, in a time that hardly depends on the samples. A block
// sorts the footprint of its tile once, so that every sample has a rank of its own; histograms of the rank's
// top bits slide over the tile; the last step walks the few samples of one bin in order.
//
// Per pixel: footprint / tile radix-sorted samples, one step of a histogram of 64 bins spread over half a
// warp, and a walk of footprint / 64 samples at most. The histogram of columns under a sliding window is
// Perreault and Hebert's (2007); ranks instead of values make the bins equally full whatever the samples are,
// and floats no harder than bytes.
#pragma once
#include <cub/block/block_radix_sort.cuh>

#include "cuda/error.hpp"
#include "filters/median/samples.cuh"

namespace quietframe::median {

/// TileWidth x TileHeight outputs. Threads threads sort a footprint of at most Threads * Items samples; then
/// each warp filters Rows rows. Registers are limited so that Blocks blocks share a multiprocessor.
template <int TileWidth, int TileHeight, int Threads, int Items, int Rows, int Blocks>
struct OrdinalShape {
  static constexpr int blocks = Blocks;
  static constexpr int tile_width = TileWidth, tile_height = TileHeight, threads = Threads, items = Items;
  static constexpr int rows = Rows, warps = tile_height / rows;  ///< that filter
  static constexpr int capacity = threads * items;
  /// A window's count in a bin fits in a byte, because a bin has no more samples than that.
  static constexpr int bins = 64, bin_size = capacity / bins;
  static constexpr int bin_words = bins / 4;          ///< of a column
  static constexpr int column_words = bin_words + 1;  ///< odd: lanes that update 32 columns meet 32 banks
  static constexpr int half_width = tile_width / 2;   ///< outputs that half a warp makes of a row
  static_assert(tile_height % rows == 0 && warps * 32 == threads && (warps & (warps - 1)) == 0);
  static_assert(tile_width % 32 == 0 && half_width % 2 == 0 && bin_size < 256 && bin_size % 8 == 0);
  static_assert(tile_width + max_window - 1 < 127 && tile_height + max_window - 1 < 127);

  static bool fits(const Window& window) {
    const int w = tile_width + window.width - 1, h = tile_height + window.height - 1;
    return w * h <= capacity;
  }
};

// Sorts 16 bits of a key in the upper half of a word, with the position in the lower half; stable.
template <class Shape>
using OrdinalSort = cub::BlockRadixSort<std::uint32_t, Shape::threads, Shape::items>;

/// Parts of dynamic shared memory, in bytes from its start. Sorting and histograms use the first part in
/// turn.
template <class Shape>
struct OrdinalLayout {
  int column_words;  ///< of the histograms of a warp
  int order, bin, found, bytes;

  QF_HD OrdinalLayout(int footprint_width, int footprint_height) {
    auto align = [](int n) { return (n + 15) / 16 * 16; };
    const int sort = static_cast<int>(sizeof(typename OrdinalSort<Shape>::TempStorage));
    // The last step of a sweep reads three columns past the footprint; nothing comes of it.
    column_words = (footprint_width + 3) * Shape::column_words;
    const int columns = Shape::warps * column_words * 4;
    order = align(sort > columns ? sort : columns);
    bin = order + align(2 * Shape::capacity);
    found = bin + align(footprint_width * footprint_height);
    bytes = found + Shape::warps * Shape::tile_width * 8;
  }
};

/// A position of the footprint: column in the low byte, row in the high one, both below 127. In lists the top
/// bits of both are set.
inline constexpr std::uint32_t no_position = 0xffff, marks = 0x80808080u;

// The samples of the footprint as keys shifted up, with their positions below. Those beyond the footprint
// sort among the largest, and their position is in no window. The upper halves of floats wait in `upper`.
template <class Shape, SampleType S>
__device__ void load_footprint(const GroupView& v, int x0, int y0, int width, int height,
                               std::uint32_t (&items)[Shape::items], std::uint16_t* upper) {
  const std::byte* base = v.channel[blockIdx.z];
  const std::ptrdiff_t stride = v.stride[blockIdx.z];
  int at = static_cast<int>(threadIdx.x), y = at / width, x = at - y * width;
  const int step_y = Shape::threads / width, step_x = Shape::threads - step_y * width;
#pragma unroll
  for (int i = 0; i < Shape::items; ++i) {
    items[i] = ~std::uint32_t{0};
    if (y < height) {
      const std::uint32_t key =
          load_key_at<S>(base + min(max(y0 + y, 0), v.height - 1) * stride +
                             static_cast<std::ptrdiff_t>(min(max(x0 + x, 0), v.width - 1)) * v.step,
                         v.shift);
      items[i] = key << 16 | static_cast<std::uint32_t>(y << 8 | x);
      if constexpr (S == SampleType::f32) upper[at] = static_cast<std::uint16_t>(key >> 16);
    }
    at += Shape::threads;
    y += step_y;
    x += step_x;
    if (x >= width) {
      x -= width;
      ++y;
    }
  }
}

// Sorts the footprint: order[rank] is the position of the sample of that rank, bin[y * width + x] its top
// bits. Floats take two turns, the lower half of their keys first; the upper halves wait in `order`.
template <class Shape>
__device__ void rank_footprint(const Launch& job, int x0, int y0, int width, int height, void* temporary,
                               std::uint16_t* order, std::uint8_t* bin) {
  using Sort = OrdinalSort<Shape>;
  auto& storage = *static_cast<typename Sort::TempStorage*>(temporary);
  std::uint32_t items[Shape::items];
  with_type(job.in.type,
            [&]<SampleType S>() { load_footprint<Shape, S>(job.in, x0, y0, width, height, items, order); });
  // Only the bits in use: the time is proportional to them.
  Sort(storage).Sort(items, 16, job.in.type == SampleType::u8 ? 24 : 32);
  __syncthreads();
  if (job.in.type == SampleType::f32) {
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
    order[first + i] = static_cast<std::uint16_t>(position | marks);
    if (position != no_position)
      bin[(position >> 8) * width + (position & 255)] =
          static_cast<std::uint8_t>((first + i) / Shape::bin_size);
  }
  __syncthreads();
}

/// Histograms of the footprint's columns: words[x * column_words + n] counts bins 4 n to 4 n + 3 in its
/// bytes.
template <class Shape>
struct Columns {
  std::uint32_t* words;
  const std::uint8_t* bin;
  int width;  ///< of the footprint

  __device__ void add(int x, int y, std::uint32_t one) const {
    const unsigned b = bin[y * width + x];
    atomicAdd(words + x * Shape::column_words + b / 4, one << 8 * (b % 4));
  }
};

__device__ inline int warp_lane() { return static_cast<int>(threadIdx.x % 32); }

// Fills the histograms of all warps, words + warp * pitch: those of the rows under its first row of windows.
// Warps have most of these rows in common, and what a group of them has in common is counted once: a
// histogram of the common rows is copied for the second half of the group, and both halves add what all of
// their own warps have beside it.
template <class Shape>
__device__ void fill_columns(const Columns<Shape>& all, int pitch, int window_height) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  bool begun = false;
  for (int group = Shape::warps; group >= 1; group /= 2) {
    const int reach = (group - 1) * Shape::rows;  // from the first of a group's first rows to the last
    if (window_height <= reach) continue;
    const int owner = warp & -group, member = warp - owner;
    const int y = owner * Shape::rows;
    std::uint32_t* own = all.words + owner * pitch;
    int from = y + reach, count = window_height - reach;
    if (!begun) {
      for (int i = member * 32 + warp_lane(); i < pitch; i += 32 * group) own[i] = 0;
    } else {
      // The upper half of the former group lacks rows before the common ones, the lower half rows behind
      // them.
      const bool lower = owner & group;
      count = group * Shape::rows;
      if (lower) {
        from = y + window_height - count;
        const std::uint32_t* common = own - group * pitch;
        for (int i = member * 32 + warp_lane(); i < pitch; i += 32 * group) own[i] = common[i];
      }
    }
    begun = true;
    __syncthreads();
    const Columns<Shape> columns{own, all.bin, all.width};
    for (int j = member; j < count; j += group)
      for (int x = warp_lane(); x < all.width; x += 32) columns.add(x, from + j, 1);
    __syncthreads();
  }
}

// From the windows of one row to those of the next.
template <class Shape>
__device__ void slide_columns(const Columns<Shape>& columns, int leaving, int entering) {
  __syncwarp();
  for (int x = warp_lane(); x < columns.width; x += 32) {
    columns.add(x, leaving, ~std::uint32_t{0});
    columns.add(x, entering, 1);
  }
  __syncwarp();
}

// Slides windows along a row, one in either half of the warp, and finds the four bins in which the wanted
// rank falls: `found` gets their counts, and which they are with the rank within them. The prefix sums over
// the lanes of two steps ride in one word, for a window has fewer than 65536 samples.
template <class Shape>
__device__ void sweep_row(const Columns<Shape>& columns, const Window& window, uint2* found) {
  constexpr int pitch = Shape::column_words;
  const unsigned half = threadIdx.x / 16 % 2, lane = threadIdx.x % 16;
  const std::uint32_t* leaving = columns.words + half * Shape::half_width * pitch + lane;
  const std::uint32_t* entering = leaving;
  std::uint32_t here = 0;
  for (int x = 0; x < window.width; ++x, entering += pitch) here += *entering;
  const auto rank = static_cast<std::uint32_t>(window.rank);
  found += half * Shape::half_width;
  std::uint32_t change[2] = {entering[0] - leaving[0], entering[pitch] - leaving[pitch]};
  auto report = [&](std::uint32_t before, std::uint32_t own, std::uint32_t counts, uint2* to) {
    if (rank - before < own) *to = make_uint2(counts, lane << 16 | (rank - before));
  };
#pragma unroll 2
  for (int x = 0; x < Shape::half_width; x += 2) {
    const std::uint32_t next = here + change[0];
    const std::uint32_t own = __dp4a(here, 0x01010101u, 0u), own_next = __dp4a(next, 0x01010101u, 0u);
    const std::uint32_t both = own_next << 16 | own;
    const std::uint32_t after = next + change[1];
    // Loads of the steps to come do not wait for the sums.
    leaving += 2 * pitch, entering += 2 * pitch;
    change[0] = entering[0] - leaving[0], change[1] = entering[pitch] - leaving[pitch];
    std::uint32_t sum = both;
#pragma unroll
    for (unsigned d = 1; d < 16; d *= 2) {
      const std::uint32_t left = __shfl_up_sync(0xffffffffu, sum, d, 16);
      if (lane >= d) sum += left;
    }
    const std::uint32_t before = sum - both;
    report(before & 0xffffu, own, here, found + x);
    report(before >> 16, own_next, next, found + x + 1);
    here = after;
  }
  __syncwarp();
}

// Which of the four bins of counts has the `left`-th of their samples; `left` becomes the rank within it.
__device__ inline int bin_of_four(std::uint32_t counts, std::uint32_t& left) {
  const std::uint32_t one = counts & 255, two = __dp4a(counts, 0x0101u, 0u),
                      three = __dp4a(counts, 0x010101u, 0u);
  const int bin = (left >= one) + (left >= two) + (left >= three);
  left -= bin == 0 ? 0 : bin == 1 ? one : bin == 2 ? two : three;
  return bin;
}

// The position of the sample with rank `left` in a bin's list, counting only what is in the window. Eight
// positions are tested at a time, two in a word: coordinates are below 128 and have the top bit of their byte
// set, so that one subtraction tells which are not below the window's first, another which are not above its
// last.
__device__ inline std::uint32_t walk_bin(const std::uint16_t* list, std::uint32_t left, int x, int y,
                                         const Window& window) {
  const std::uint32_t first = static_cast<std::uint32_t>(y << 8 | x) * 0x10001u;
  const std::uint32_t size = static_cast<std::uint32_t>((window.height - 1) << 8 | (window.width - 1));
  const std::uint32_t behind = first + size * 0x10001u + 2 * marks;
  for (int i = 0;; i += 8) {
    const uint4 eight = *reinterpret_cast<const uint4*>(list + i);
    const std::uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
    std::uint32_t inside = 0;  // bits 15 - n and 31 - n are of the two positions of word n
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const std::uint32_t both = (pairs[n] - first) & (behind - pairs[n]);
      inside |= (both & both << 8 & 0x80008000u) >> n;
    }
    const auto count = static_cast<std::uint32_t>(__popc(inside));
    if (left >= count) {
      left -= count;
      continue;
    }
    std::uint32_t position = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const bool is_inside = inside >> (15 - j / 2 + j % 2 * 16) & 1;
      if (is_inside && left == 0) position = pairs[j / 2] >> j % 2 * 16;
      left -= is_inside;
    }
    return position & ~marks & 0xffffu;
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    ordinal_kernel(const __grid_constant__ Launch job) {
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

  const int warp = static_cast<int>(threadIdx.x / 32);
  Columns<Shape> columns{reinterpret_cast<std::uint32_t*>(shared), bin, width};
  fill_columns(columns, layout.column_words, window.height);
  columns.words += warp * layout.column_words;
  auto* found = reinterpret_cast<uint2*>(shared + layout.found) + warp * Shape::tile_width;
  const int c = static_cast<int>(blockIdx.z);
  for (int r = 0; r < Shape::rows; ++r) {
    const int y = warp * Shape::rows + r;
    if (tile_y + y >= job.out.height) break;
    if (r > 0) slide_columns(columns, y - 1, y + window.height - 1);
    sweep_row(columns, window, found);
    for (int x = warp_lane(); x < Shape::tile_width && tile_x + x < job.out.width; x += 32) {
      std::uint32_t rest = found[x].y & 0xffffu;
      const int at = static_cast<int>(found[x].y >> 16) * 4 + bin_of_four(found[x].x, rest);
      const std::uint32_t p = walk_bin(order + at * Shape::bin_size, rest, x, y, window);
      const std::uint32_t key =
          load_key(job.in, c, left + static_cast<int>(p & 255), top + static_cast<int>(p >> 8));
      store_key(job, c, tile_x + x, tile_y + y, key);
    }
    __syncwarp();
  }
}

template <class Shape>
void launch_ordinal(const Launch& job, cudaStream_t stream) {
  const OrdinalLayout<Shape> layout(Shape::tile_width + job.window.width - 1,
                                    Shape::tile_height + job.window.height - 1);
  QF_CUDA_CHECK(
      cudaFuncSetAttribute(ordinal_kernel<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, layout.bytes));
  const dim3 grid((job.out.width + Shape::tile_width - 1) / Shape::tile_width,
                  (job.out.height + Shape::tile_height - 1) / Shape::tile_height, job.out.channels);
  ordinal_kernel<Shape><<<grid, Shape::threads, layout.bytes, stream>>>(job);
  QF_CUDA_CHECK_LAUNCH("ordinal_kernel");
}

}  // namespace quietframe::median
