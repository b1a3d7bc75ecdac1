// Non-local means by box sums on CUDA: column sums of squared differences march down a strip in registers,
// for up to sixteen displacements at once.
#include "filters/nlm/cuda_common.cuh"
#include "filters/nlm/cuda_strip.cuh"

namespace quietframe::nlm {
namespace {

using namespace cuda;

// Per displacement and pixel a row that enters and one that leaves cost 4 operations, the sum across 2 to 3,
// the weight 2, and the totals 2 + 2 C, whatever the patch radius. Column sums start from nothing every R
// rows, at multiples of R, so that rounding neither accumulates nor depends on tiles. Without the pixel
// itself (Max) they start anew every row: weights far below one show the rounding of rows that came and went.

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
  Totals<C, Max> part{};  // sums of sums round less than one long sum
#pragma unroll
  for (int d = 0; d < D; ++d) {
    const int dx = first + d;
    if (dx < -search || dx > search || (Max && same_row && dx == 0)) continue;  // the same for all lanes
    float ssd[4];
    sum_across<S>(columns[d], ssd);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float w = Max ? weighting.precise(ssd[i]) : weighting(ssd[i]);
      part.weight[i] += w;
      if constexpr (Max) part.largest[i] = fmaxf(part.largest[i], w);
#pragma unroll
      for (int c = 0; c < C; ++c) part.sum[c][i] = fmaf(w, b[c][d + i] - a[c][i], part.sum[c][i]);
    }
  }
  totals.add(part);
}

template <int C, int S, int G, int R, bool Max>
__global__ void __launch_bounds__(threads, 3)
    box(const __grid_constant__ Scene scene, const __grid_constant__ Parts parts) {
  extern __shared__ float4 shared[];
  constexpr int idle = (S + 3) / 4;  // lanes lost on either side
  constexpr int tile_w = strip_width - 8 * idle, D = 4 * G;
  const int a = scene.params.search_radius;
  const Strip strip(a, S, R);
  const int plane = strip.rows * strip.pitch;
  float* tile0 = reinterpret_cast<float*>(shared);
  float* tile1 = scene.frames > 1 ? tile0 + C * strip.rows * strip.pitch : tile0;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int totals_plane = warps * R * strip_width;
  float* totals_at = tile1 + C * strip.rows * strip.pitch + warp * R * strip_width + 4 * lane;
  const int x0 = static_cast<int>(blockIdx.x) * tile_w - 4 * idle;
  const int y0 = static_cast<int>(blockIdx.y) * warps * R;
  const Tile area{tile0, x0 - strip.lead, y0 - S - a, strip.pitch, strip.rows, strip.pitch, plane};
  const Weighting weighting(scene, C);

  load_frame<C>(scene, 0, area);
  for (int r = 0; r < R; ++r) {
    Totals<C, Max> none{};
    none.store(totals_at + r * strip_width, totals_plane);
  }
  const Steps steps(scene, parts, static_cast<int>(blockIdx.z));
  for (int f = steps.first_frame(); steps.has(f); ++f) {
    if (f > 0) {
      __syncthreads();
      load_frame<C>(scene, f, {tile1, area.x0, area.y0, area.cols, area.rows, area.pitch, area.plane});
    }
    __syncthreads();
    // Rows are counted from the strip's first patch row; its first output is S further on.
    const float* here = tile0 + (warp * R + a) * strip.pitch + 4 * lane + strip.lead;
    const float* searched = (f > 0 ? tile1 : tile0) + (warp * R + a) * strip.pitch + 4 * lane;
    for (int dy = steps.first_dy(f); dy <= steps.last_dy(f); ++dy)
      for (int group = 0; group < strip.groups; group += G) {
        const float* there = searched + dy * strip.pitch + 4 * group;
        float columns[D][4];
        const auto start = [&](int row) {
#pragma unroll
          for (auto& column : columns) column[0] = column[1] = column[2] = column[3] = 0.f;
#pragma unroll 1
          for (int r = row; r < row + 2 * S; ++r)
            add_row<C, D, 1>(here + r * strip.pitch, there + r * strip.pitch, plane, columns);
        };
        start(0);
#pragma unroll 1
        for (int r = 0; r < R; ++r) {
          const int enters = (r + 2 * S) * strip.pitch, row = (r + S) * strip.pitch;
          add_row<C, D, 1>(here + enters, there + enters, plane, columns);
          Totals<C, Max> totals;
          totals.load(totals_at + r * strip_width, totals_plane);
          weigh_row<C, S, D, Max>(here + row, there + row, plane, columns, 4 * group - strip.lead, a,
                                  f == 0 && dy == 0, weighting, totals);
          totals.store(totals_at + r * strip_width, totals_plane);
          if constexpr (Max)
            start(r + 1);
          else
            add_row<C, D, -1>(here + r * strip.pitch, there + r * strip.pitch, plane, columns);
        }
      }
  }

  const int x = x0 + 4 * lane;
  if (lane < idle || lane >= 32 - idle || x >= scene.job.out.group.width) return;
  for (int r = 0; r < R; ++r) {
    const int y = y0 + warp * R + r;
    if (y >= scene.job.out.group.height) return;
    Totals<C, Max> totals;
    totals.load(totals_at + r * strip_width, totals_plane);
    float level[C][4];
#pragma unroll
    for (int c = 0; c < C; ++c)
      load_row(tile0 + c * plane + (warp * R + r + S + a) * strip.pitch + 4 * lane + strip.lead, level[c]);
    leave(scene, parts, x, y, totals, level);
  }
  let_next_kernel_start();
}

template <int C, int S, int G, int R, bool Max>
bool run(const CudaJob& job, const Params& p) {
  constexpr int tile_w = strip_width - 8 * ((S + 3) / 4);
  const Scene scene(job, p);
  const Strip strip(p.search_radius, S, R);
  const int tiles = (scene.frames > 1 ? 2 : 1) * C * strip.rows * strip.pitch;
  const auto bytes =
      sizeof(float) * static_cast<std::size_t>(tiles + Totals<C, Max>::planes * warps * R * strip_width);
  if (bytes > shared_bytes_per_block()) return false;
  run_parts<C, Max>(box<C, S, G, R, Max>,
                    dim3(blocks(job.in.width, tile_w), blocks(job.in.height, warps * R)), bytes, job, scene);
  return true;
}

template <int C, int S>
bool run(const CudaJob& job, const Params& p) {
  constexpr int R = rows_per_strip(C);
  if (p.centre_weight == CentreWeight::max) return run<C, S, 2, R, true>(job, p);
  // Sixteen displacements at once do not fit the registers where there are no sums across.
  if constexpr (C == 1 && S > 0)
    if (p.search_radius >= 4) return run<C, S, 4, R, false>(job, p);
  return run<C, S, 2, R, false>(job, p);
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
