// What the implementations with box sums on CUDA share: strips that warps march down, totals in shared
// memory, and blocks that share a tile.
#pragma once
#include <algorithm>
#include "filters/nlm/cuda_common.cuh"

namespace quietframe::nlm {
namespace {

using namespace cuda;

// A warp is 32 lanes of 4 columns; the outer lanes only lend their column sums to the patches of the others.
// It marches down R rows for one dy and 4 G neighbouring dx. Column sums are registers; sums across go
// through shuffles with the neighbouring lanes; samples and totals come in vectors of four from shared
// memory, once for all displacements.
//
// A small frame has too few tiles for the machine: then several blocks share a tile, each with a part of the
// displacements, leave their totals in scratch memory, and a second kernel adds them up in a fixed order.
constexpr int warps = 4, threads = 32 * warps, strip_width = 128;

// Rows that a warp makes; scratch is sized by them, too.
constexpr int rows_per_strip(int channels) { return channels == 1 ? 8 : 4; }

// Blocks that share a tile of `tiles`: as many as fill the machine, and two where the last tiles would leave
// much of it idle. Measured on an H200 (132 SMs, 2026-11-30): at 80 tiles four are within 4 % of three and
// win over all others, two win at 160 to 544, one at 1088. A rule of the frame's size alone, not of the
// GPU's, so that a frame has the same bits on every GPU.
inline int parts_for(unsigned tiles) {
  constexpr int enough_blocks = 384, most_parts = 16, whole_from = 640;
  const int n = static_cast<int>(tiles);
  return n >= whole_from ? 1 : std::clamp(enough_blocks / n, 2, most_parts);
}

inline int padded_width(int width) { return (width + 3) / 4 * 4; }

// Where the blocks of a tile leave their totals: part p's plane n begins at (p * planes + n) * plane.
struct Parts {
  float* at;
  int count, pitch;
  std::ptrdiff_t plane;
};

// The dy of all frames one after another are a tile's steps; a block takes a part of them.
struct Steps {
  int radius, side, begin, end;

  __device__ Steps(const Scene& scene, const Parts& parts, int part)
      : radius(scene.params.search_radius), side(2 * radius + 1) {
    const int all = scene.frames * side;
    begin = part * all / parts.count, end = (part + 1) * all / parts.count;
  }
  __device__ int first_frame() const { return begin / side; }
  __device__ bool has(int f) const { return f * side < end; }
  __device__ int first_dy(int f) const { return max(begin - f * side, 0) - radius; }
  __device__ int last_dy(int f) const { return min(end - f * side, side) - 1 - radius; }
};

// Shared memory: the tile of the current frame, that of the past frame being searched (if any), and totals.
struct Strip {
  int search, lead, groups;  ///< the window begins `lead` before a pixel, a multiple of 4; groups of 4 dx
  int rows, pitch;           ///< of a tile

  QF_HD Strip(int search_radius, int patch_radius, int strip_rows)
      : search(search_radius),
        lead((search_radius + 3) / 4 * 4),
        groups((lead + search_radius + 4) / 4),
        rows(warps * strip_rows + 2 * (search_radius + patch_radius)),
        pitch(strip_width + 4 * groups) {}
};

// Totals of a strip; a thread only ever touches its own columns.
template <int C, bool Max>
struct Totals {
  static constexpr int planes = C + 1 + (Max ? 1 : 0);
  float weight[4], sum[C][4], largest[4];

  __device__ void load(const float* at, std::ptrdiff_t plane) {
    take(weight, at);
#pragma unroll
    for (int c = 0; c < C; ++c) take(sum[c], at + (1 + c) * plane);
    if constexpr (Max) take(largest, at + (1 + C) * plane);
  }
  __device__ void store(float* at, std::ptrdiff_t plane) const {
    give(weight, at);
#pragma unroll
    for (int c = 0; c < C; ++c) give(sum[c], at + (1 + c) * plane);
    if constexpr (Max) give(largest, at + (1 + C) * plane);
  }
  __device__ void add(const Totals& other) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      weight[i] += other.weight[i];
#pragma unroll
      for (int c = 0; c < C; ++c) sum[c][i] += other.sum[c][i];
      if constexpr (Max) largest[i] = fmaxf(largest[i], other.largest[i]);
    }
  }

 private:
  static __device__ void take(float (&v)[4], const float* at) {
    const float4 q = *reinterpret_cast<const float4*>(at);
    v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
  }
  static __device__ void give(const float (&v)[4], float* at) {
    *reinterpret_cast<float4*>(at) = make_float4(v[0], v[1], v[2], v[3]);
  }
};

template <int N>
__device__ void load_row(const float* at, float (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float4 q = *reinterpret_cast<const float4*>(at + i);
    v[i] = q.x, v[i + 1] = q.y, v[i + 2] = q.z, v[i + 3] = q.w;
  }
}

// Sums over 2 S + 1 columns round each of a lane's four. tail[n] and head[n] are sums of the last and first n
// of a lane's columns; a window takes a tail of the lane before, a part of its own, and a head of the lane
// after, or, beyond 4, of the two before and after.
template <int S>
__device__ void sum_across(const float (&c)[4], float (&sum)[4]) {
  constexpr unsigned all = 0xffffffffU;
  const float tail[5] = {0.f, c[3], c[2] + c[3], c[1] + (c[2] + c[3]), (c[0] + c[1]) + (c[2] + c[3])};
  const float head[5] = {0.f, c[0], c[0] + c[1], (c[0] + c[1]) + c[2], tail[4]};
  float whole_before = 0.f, whole_after = 0.f;
  if constexpr (S > 4) {
    whole_before = __shfl_up_sync(all, tail[4], 1);
    whole_after = __shfl_down_sync(all, tail[4], 1);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int before = S > i ? S - i : 0, after = i + S > 3 ? i + S - 3 : 0;
    float s;
    if (S == 0)
      s = c[i];
    else if (before > 0 && after > 0)
      s = tail[4];
    else if (before > 0)
      s = head[min(4, i + S + 1)];
    else if (after > 0)
      s = tail[min(4, 4 - (i - S))];
    else
      s = i == 1 ? head[3] : tail[3];  // S is 1, and the window is inside: columns i - 1 to i + 1
    if (before > 0) {
      if (before <= 4)
        s += __shfl_up_sync(all, tail[before], 1);
      else
        s += whole_before + __shfl_up_sync(all, tail[before - 4], 2);
    }
    if (after > 0) {
      if (after <= 4)
        s += __shfl_down_sync(all, head[after], 1);
      else
        s += whole_after + __shfl_down_sync(all, head[after - 4], 2);
    }
    sum[i] = s;
  }
}

// Four outputs from their totals.
template <int C, bool Max>
__device__ void finish(const Scene& scene, int x, int y, const Totals<C, Max>& totals, float (&level)[C][4]) {
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float own = Max ? fmaxf(totals.largest[i], min_centre_weight) : 0.f;
      level[c][i] += totals.sum[c][i] / (totals.weight[i] + own);
    }
  select_pixels<C>(scene.job.in.group.type, scene.layout,
                   [&]<class P>() { P::template store<4>(scene.job, x, y, level); });
}

// What a block does with the totals of four pixels: outputs, or its part of them.
template <int C, bool Max>
__device__ void leave(const Scene& scene, const Parts& parts, int x, int y, const Totals<C, Max>& totals,
                      float (&level)[C][4]) {
  if (parts.count == 1) return finish(scene, x, y, totals, level);
  totals.store(parts.at + static_cast<int>(blockIdx.z) * (totals.planes * parts.plane) +
                   std::ptrdiff_t{y} * parts.pitch + x,
               parts.plane);
}

template <int C, bool Max>
__global__ void __launch_bounds__(threads)
    add_parts(const __grid_constant__ Scene scene, const __grid_constant__ Parts parts) {
  wait_for_previous_kernel();
  const int x = 4 * static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32);
  const int y = static_cast<int>(blockIdx.y) * warps + static_cast<int>(threadIdx.x) / 32;
  if (x >= scene.job.out.group.width || y >= scene.job.out.group.height) return;
  const float* at = parts.at + std::ptrdiff_t{y} * parts.pitch + x;
  Totals<C, Max> all{};
  for (int p = 0; p < parts.count; ++p, at += Totals<C, Max>::planes * parts.plane) {
    Totals<C, Max> part;
    part.load(at, parts.plane);
    all.add(part);
  }
  float level[C][4];
  select_pixels<C>(scene.job.in.group.type, scene.layout,
                   [&]<class P>() { P::template load<4>(scene.job.in, x, y, level); });
  finish(scene, x, y, all, level);
}

// Enqueues `kernel`, in parts where there are few tiles.
template <int C, bool Max, class Kernel>
void run_parts(Kernel kernel, dim3 tiles, std::size_t bytes, const CudaJob& job, const Scene& scene) {
  Parts parts{reinterpret_cast<float*>(job.scratch), 1, padded_width(job.in.width), 0};
  parts.count = std::min(parts_for(tiles.x * tiles.y), scene.frames * (2 * scene.params.search_radius + 1));
  parts.plane = std::ptrdiff_t{parts.pitch} * job.in.height;
  tiles.z = static_cast<unsigned>(parts.count);
  launch(kernel, tiles, threads, bytes, job.stream, scene, parts);
  if (parts.count > 1)
    launch(add_parts<C, Max>, dim3(blocks(job.in.width, strip_width), blocks(job.in.height, warps)),
           dim3(threads), 0, device_overlaps_kernels(), job.stream, scene, parts);
}

}  // namespace
}  // namespace quietframe::nlm
