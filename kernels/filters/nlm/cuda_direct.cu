// Non-local means on CUDA, patch by patch: one thread a pixel, all frames' tiles in shared memory, its own
// patch in registers where it is small.
#include "filters/nlm/cuda_common.cuh"

namespace quietframe::nlm {
namespace {

using namespace cuda;

constexpr int tile_w = 32, tile_h = 8, threads = tile_w * tile_h;
constexpr int any_patch = -1;

struct Shape {
  int margin, rows, pitch;

  QF_HD Shape(int search_radius, int patch_radius)
      : margin(search_radius + patch_radius),
        rows(tile_h + 2 * margin),
        pitch((tile_w + 2 * margin + 3) / 4 * 4) {}
  QF_HD int tile_floats(int channels) const { return channels * rows * pitch; }
};

// Sums of squares: in one float, or with what rounding takes from the sum of the rows kept beside it. A
// weight far below one is as exact as its exponent, which is proportional to the sum.
struct PlainSum {
  float total = 0.f;

  __device__ void add(float d) { total = fmaf(d, d, total); }
  __device__ void end_row() {}
  __device__ float value() const { return total; }
};

struct PreciseSum {
  float row = 0.f, total = 0.f, lost = 0.f;

  __device__ void add(float d) { row = fmaf(d, d, row); }
  __device__ void end_row() {
    const float sum = total + row, added = sum - total;
    lost += (total - (sum - added)) + (row - added);
    total = sum;
    row = 0.f;
  }
  __device__ float value() const { return total + lost; }
};

// Sum of squared differences between a patch and the patch whose first sample is at `there`.
template <int C, int S>
struct Patch {
  static constexpr int side = 2 * S + 1;
  float own[C][side][side];

  __device__ Patch(const float* first, int pitch, int plane, int) {
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int j = 0; j < side; ++j)
#pragma unroll
        for (int i = 0; i < side; ++i) own[c][j][i] = first[c * plane + j * pitch + i];
  }
  template <class Sum>
  __device__ float distance(const float* there, int pitch, int plane) const {
    Sum ssd;
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int j = 0; j < side; ++j) {
#pragma unroll
        for (int i = 0; i < side; ++i) ssd.add(own[c][j][i] - there[c * plane + j * pitch + i]);
        ssd.end_row();
      }
    return ssd.value();
  }
};

template <int C>
struct Patch<C, any_patch> {
  const float* first;
  int side;

  __device__ Patch(const float* at, int, int, int radius) : first(at), side(2 * radius + 1) {}
  template <class Sum>
  __device__ float distance(const float* there, int pitch, int plane) const {
    Sum ssd;
#pragma unroll
    for (int c = 0; c < C; ++c)
      for (int j = 0; j < side; ++j) {
        for (int i = 0; i < side; ++i) {
          const int at = c * plane + j * pitch + i;
          ssd.add(first[at] - there[at]);
        }
        ssd.end_row();
      }
    return ssd.value();
  }
};

template <int C, int S>
__device__ float weigh(const Weighting& weighting, const Patch<C, S>& patch, const float* there, int pitch,
                       int plane) {
  if (weighting.exclude_own)  // the same for all threads
    return weighting.precise(patch.template distance<PreciseSum>(there, pitch, plane));
  return weighting(patch.template distance<PlainSum>(there, pitch, plane));
}

template <int C, int S>
__global__ void __launch_bounds__(threads) direct(const __grid_constant__ Scene scene) {
  extern __shared__ float4 shared[];
  const auto& p = scene.params;
  const int a = p.search_radius, s = S == any_patch ? p.patch_radius : S;
  const Shape shape(a, s);
  const int plane = shape.rows * shape.pitch;
  float* tiles = reinterpret_cast<float*>(shared);
  const int x0 = static_cast<int>(blockIdx.x) * tile_w, y0 = static_cast<int>(blockIdx.y) * tile_h;
  for (int f = 0; f < scene.frames; ++f)
    load_frame<C>(scene, f,
                  {tiles + f * shape.tile_floats(C), x0 - shape.margin, y0 - shape.margin, shape.pitch,
                   shape.rows, shape.pitch, plane});
  __syncthreads();

  const int tx = static_cast<int>(threadIdx.x) % tile_w, ty = static_cast<int>(threadIdx.x) / tile_w;
  const int x = x0 + tx, y = y0 + ty;
  if (x >= scene.job.out.group.width || y >= scene.job.out.group.height) return;
  const int first = (ty + a) * shape.pitch + tx + a;  // of the pixel's own patch
  const int centre = s * shape.pitch + s;             // from a patch's first sample
  const Weighting weighting(scene, C);
  const Patch<C, S> patch(tiles + first, shape.pitch, plane, s);
  float own[C], sum[C] = {}, weight = 0.f, largest = 0.f;
#pragma unroll
  for (int c = 0; c < C; ++c) own[c] = tiles[c * plane + first + centre];
  for (int f = 0; f < scene.frames; ++f)
    for (int dy = -a; dy <= a; ++dy) {
      float row[C] = {}, row_weight = 0.f;  // sums of sums round less than one long sum
      for (int dx = -a; dx <= a; ++dx) {
        if (f == 0 && dy == 0 && dx == 0) continue;
        const float* there = tiles + f * shape.tile_floats(C) + first + dy * shape.pitch + dx;
        const float w = weigh(weighting, patch, there, shape.pitch, plane);
        row_weight += w;
        largest = fmaxf(largest, w);
#pragma unroll
        for (int c = 0; c < C; ++c) row[c] = fmaf(w, there[c * plane + centre] - own[c], row[c]);
      }
      weight += row_weight;
#pragma unroll
      for (int c = 0; c < C; ++c) sum[c] += row[c];
    }
  weight += p.centre_weight == CentreWeight::one ? 1.f : fmaxf(largest, min_centre_weight);
  float level[C][1];
#pragma unroll
  for (int c = 0; c < C; ++c) level[c][0] = own[c] + sum[c] / weight;
  select_pixels<C>(scene.job.in.group.type, scene.layout,
                   [&]<class P>() { P::template store<1>(scene.job, x, y, level); });
}

template <int C>
bool run(const CudaJob& job, const Params& p) {
  const Scene scene(job, p);
  const Shape shape(p.search_radius, p.patch_radius);
  const auto bytes = sizeof(float) * static_cast<std::size_t>(scene.frames * shape.tile_floats(C));
  if (bytes > shared_bytes_per_block()) return false;
  const dim3 grid(blocks(job.in.width, tile_w), blocks(job.in.height, tile_h));
  auto* kernel = p.patch_radius == 0   ? direct<C, 0>
                 : p.patch_radius == 1 ? direct<C, 1>
                 : p.patch_radius == 2 ? direct<C, 2>
                                       : direct<C, any_patch>;
  launch(kernel, grid, threads, bytes, job.stream, scene);
  return true;
}

}  // namespace

bool run_direct(const CudaJob& job, const Params& p) {
  return job.in.channels == 1 ? run<1>(job, p) : job.in.channels == 2 ? run<2>(job, p) : run<3>(job, p);
}

}  // namespace quietframe::nlm
