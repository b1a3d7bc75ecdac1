// Non-local means by box sums on CUDA: column sums of squared differences march down a strip in registers,
// for up to sixteen displacements at once.
#include "filters/nlm/cuda_common.cuh"

namespace quietframe::nlm {
namespace {

using namespace cuda;

// A warp is 32 lanes of 4 columns; the outer lanes only lend their column sums to the patches of the others.
// It marches down R rows for one dy and 4 G neighbouring dx. Per displacement and pixel that is 4 operations
// for the entering and the leaving row, 2 to 3 for the sum across (through shuffles with the neighbouring
// lanes), 2 for the weight, and 2 + 2 C sums, whatever the patch radius; samples and totals come in vectors
// of four from shared memory, once for all displacements. Column sums start from nothing every R rows, at
// multiples of R, so that rounding neither accumulates nor depends on tiles.
constexpr int warps = 4, threads = 32 * warps, strip = 128;

// Shared memory: the tile of the current frame, that of the past frame being searched (if any), and totals.
struct Shape {
  int search, lead, groups;  ///< the window begins `lead` before a pixel, a multiple of 4; groups of 4 dx
  int rows, pitch;           ///< of a tile

  QF_HD Shape(int search_radius, int patch_radius, int strip_rows)
      : search(search_radius),
        lead((search_radius + 3) / 4 * 4),
        groups((lead + search_radius + 4) / 4),
        rows(warps * strip_rows + 2 * (search_radius + patch_radius)),
        pitch(strip + 4 * groups) {}
  QF_HD int tile_floats(int channels) const { return channels * rows * pitch; }
};

// Totals of a strip; a thread only ever touches its own columns.
template <int C, bool Max>
struct Totals {
  static constexpr int planes = C + 1 + (Max ? 1 : 0);
  float weight[4], sum[C][4], largest[4];

  __device__ void load(const float* at, int plane) {
    take(weight, at);
#pragma unroll
    for (int c = 0; c < C; ++c) take(sum[c], at + (1 + c) * plane);
    if constexpr (Max) take(largest, at + (1 + C) * plane);
  }
  __device__ void store(float* at, int plane) const {
    give(weight, at);
#pragma unroll
    for (int c = 0; c < C; ++c) give(sum[c], at + (1 + c) * plane);
    if constexpr (Max) give(largest, at + (1 + C) * plane);
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

// Adds or takes away one row of squared differences: columns[d][i] belongs to pixel i and displacement d.
template <int C, int D, int Sign>
__device__ void add_row(const float* here, const float* there, int plane, float (&columns)[D][4]) {
#pragma unroll
  for (int c = 0; c < C; ++c) {
    float a[4], b[D + 4];
    load_row(here + c * plane, a);
    load_row(there + c * plane, b);
#pragma unroll
    for (int d = 0; d < D; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float difference = a[i] - b[d + i];
        columns[d][i] = fmaf(Sign > 0 ? difference : -difference, difference, columns[d][i]);
      }
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

// One row of outputs for 4 G displacements whose first is (first, dy).
template <int C, int S, int D, bool Max>
__device__ void weigh_row(const float* here, const float* there, int plane, const float (&columns)[D][4],
                          int first, int search, bool same_row, const Weighting& weighting,
                          Totals<C, Max>& totals) {
  float a[C][4], b[C][D + 4];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    load_row(here + c * plane, a[c]);
    load_row(there + c * plane, b[c]);
  }
#pragma unroll
  for (int d = 0; d < D; ++d) {
    const int dx = first + d;
    if (dx < -search || dx > search || (Max && same_row && dx == 0)) continue;  // the same for all lanes
    float ssd[4];
    sum_across<S>(columns[d], ssd);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float w = weighting(ssd[i]);
      totals.weight[i] += w;
      if constexpr (Max) totals.largest[i] = fmaxf(totals.largest[i], w);
#pragma unroll
      for (int c = 0; c < C; ++c) totals.sum[c][i] = fmaf(w, b[c][d + i] - a[c][i], totals.sum[c][i]);
    }
  }
}

template <int C, int S, int G, int R, bool Max>
__global__ void __launch_bounds__(threads, 3) box(const __grid_constant__ Scene scene) {
  extern __shared__ float4 shared[];
  constexpr int idle = (S + 3) / 4;  // lanes lost on either side
  constexpr int tile_w = strip - 8 * idle, D = 4 * G;
  const int a = scene.params.search_radius;
  const Shape shape(a, S, R);
  const int plane = shape.rows * shape.pitch;
  float* tile0 = reinterpret_cast<float*>(shared);
  float* tile1 = scene.frames > 1 ? tile0 + shape.tile_floats(C) : tile0;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int totals_plane = warps * R * strip;
  float* totals_at = tile1 + shape.tile_floats(C) + warp * R * strip + 4 * lane;
  const int x0 = static_cast<int>(blockIdx.x) * tile_w - 4 * idle;
  const int y0 = static_cast<int>(blockIdx.y) * warps * R;
  const Tile area{tile0, x0 - shape.lead, y0 - S - a, shape.pitch, shape.rows, shape.pitch, plane};
  const Weighting weighting(scene, C);

  load_frame<C>(scene, 0, area);
  for (int r = 0; r < R; ++r) {
    Totals<C, Max> none{};
    none.store(totals_at + r * strip, totals_plane);
  }
  for (int f = 0; f < scene.frames; ++f) {
    if (f > 0) {
      __syncthreads();
      load_frame<C>(scene, f, {tile1, area.x0, area.y0, area.cols, area.rows, area.pitch, area.plane});
    }
    __syncthreads();
    // Rows are counted from the strip's first patch row; its first output is S further on.
    const float* here = tile0 + (warp * R + a) * shape.pitch + 4 * lane + shape.lead;
    const float* searched = (f > 0 ? tile1 : tile0) + (warp * R + a) * shape.pitch + 4 * lane;
    for (int dy = -a; dy <= a; ++dy)
      for (int group = 0; group < shape.groups; group += G) {
        const float* there = searched + dy * shape.pitch + 4 * group;
        float columns[D][4] = {};
#pragma unroll 1
        for (int r = 0; r < 2 * S; ++r)
          add_row<C, D, 1>(here + r * shape.pitch, there + r * shape.pitch, plane, columns);
#pragma unroll 1
        for (int r = 0; r < R; ++r) {
          const int enters = (r + 2 * S) * shape.pitch, row = (r + S) * shape.pitch;
          add_row<C, D, 1>(here + enters, there + enters, plane, columns);
          Totals<C, Max> totals;
          totals.load(totals_at + r * strip, totals_plane);
          weigh_row<C, S, D, Max>(here + row, there + row, plane, columns, 4 * group - shape.lead, a,
                                  f == 0 && dy == 0, weighting, totals);
          totals.store(totals_at + r * strip, totals_plane);
          add_row<C, D, -1>(here + r * shape.pitch, there + r * shape.pitch, plane, columns);
        }
      }
  }

  const int x = x0 + 4 * lane;
  if (lane < idle || lane >= 32 - idle || x >= scene.job.out.group.width) return;
  for (int r = 0; r < R; ++r) {
    const int y = y0 + warp * R + r;
    if (y >= scene.job.out.group.height) return;
    Totals<C, Max> totals;
    totals.load(totals_at + r * strip, totals_plane);
    float level[C][4];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      load_row(tile0 + c * plane + (warp * R + r + S + a) * shape.pitch + 4 * lane + shape.lead, level[c]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float own = Max ? fmaxf(totals.largest[i], min_centre_weight) : 0.f;
        level[c][i] += totals.sum[c][i] / (totals.weight[i] + own);
      }
    }
    select_pixels<C>(scene.job.in.group.type, scene.layout,
                     [&]<class P>() { P::template store<4>(scene.job, x, y, level); });
  }
}

template <int C, int S, int G, int R, bool Max>
bool run(const CudaJob& job, const Params& p) {
  constexpr int tile_w = strip - 8 * ((S + 3) / 4);
  const Scene scene(job, p);
  const Shape shape(p.search_radius, S, R);
  const int tiles = (scene.frames > 1 ? 2 : 1) * shape.tile_floats(C);
  const auto bytes =
      sizeof(float) * static_cast<std::size_t>(tiles + Totals<C, Max>::planes * warps * R * strip);
  if (bytes > shared_bytes_per_block()) return false;
  const dim3 grid(blocks(job.in.width, tile_w), blocks(job.in.height, warps * R));
  launch(box<C, S, G, R, Max>, grid, threads, bytes, job.stream, scene);
  return true;
}

template <int C, int S>
bool run(const CudaJob& job, const Params& p) {
  constexpr int R = C == 1 ? 8 : 4, G = C == 1 ? 4 : 2;
  if (p.centre_weight == CentreWeight::max) return run<C, S, 2, R, true>(job, p);
  if (C == 1 && p.search_radius < 4) return run<C, S, 2, R, false>(job, p);
  return run<C, S, G, R, false>(job, p);
}

template <int C>
bool run(const CudaJob& job, const Params& p) {
  switch (p.patch_radius) {
    case 0:
      return run<C, 0>(job, p);
    case 1:
      return run<C, 1>(job, p);
    case 2:
      return run<C, 2>(job, p);
    case 3:
      return run<C, 3>(job, p);
    case 4:
      return run<C, 4>(job, p);
    case 5:
      return run<C, 5>(job, p);
    default:
      return run<C, 6>(job, p);
  }
}

}  // namespace

bool run_box(const CudaJob& job, const Params& p) {
  return job.in.channels == 1 ? run<1>(job, p) : job.in.channels == 2 ? run<2>(job, p) : run<3>(job, p);
}

}  // namespace quietframe::nlm
