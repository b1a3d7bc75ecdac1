// Non-local means of 8-bit colour on CUDA: the box sums of cuda_box.cu over pixels packed into words, where
// one integer dot product does the work of three channels.
#include "filters/nlm/cuda_common.cuh"
#include "filters/nlm/cuda_strip.cuh"

namespace quietframe::nlm {
namespace {

using namespace cuda;

// With samples less 128, so that they are signed bytes, the sum of squared differences of two patches is
// P(x) + P(x + d) - 2 X(x, d), where P sums a patch's squares, once for all displacements, and X its products
// with the other. Every term is an integer below 2^24 for patch radii up to 6 (2 * 13^2 * 3 * 128^2), so that
// all of it is exact in float and in any order. Per pixel and displacement X costs two dot products and a
// subtraction, where three float channels cost twelve operations, and shared memory is read once, not three
// times.
constexpr int R = rows_per_strip(3);
static_assert(R == rows_per_strip(2));

// A column sum stands in an integer's low bits and is a float once the bias is taken away: 1.5 * 2^23, whose
// last bit is worth 1.
constexpr int bias_bits = 0x4B400000;
constexpr float bias = 12582912.f;

__device__ int dot(std::uint32_t a, std::uint32_t b, int sum) {
  return __dp4a(static_cast<int>(a), static_cast<int>(b), sum);
}

// The pixels' words, and what their patches sum to.
struct PackedTile {
  std::uint32_t* word;
  float* squares;
};

// What makes the samples of a word signed, and plain again.
template <int C>
constexpr std::uint32_t offset = C == 3 ? 0x808080U : 0x8080U;

// All threads bring a tile of frame `f` into shared memory. The caller synchronises.
template <int C>
__device__ void load_words(const Scene& scene, int f, const Strip& strip, int x0, int y0,
                           std::uint32_t* word) {
  const int first = x0 & ~3, runs = (x0 + strip.pitch - first + 3) / 4;
  select_pixels<C>(scene.job.in.group.type, scene.layout, [&]<class P>() {
    if constexpr (P::type == SampleType::u8) {
      for (int item = static_cast<int>(threadIdx.x); item < runs * strip.rows; item += threads) {
        const int j = item / runs, x = first + 4 * (item - j * runs);
        std::uint32_t code[C][4];
        P::template load_codes<4>(scene.frame[f], x, y0 + j, code);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int column = x - x0 + i;
          std::uint32_t w = code[0][i];
#pragma unroll
          for (int c = 1; c < C; ++c) w |= code[c][i] << 8 * c;
          if (column >= 0 && column < strip.pitch) word[j * strip.pitch + column] = w ^ offset<C>;
        }
      }
    }
  });
}

// The patch sums of all pixels whose patch lies within the tile.
template <int S>
__device__ void sum_squares(const Strip& strip, const PackedTile& tile) {
  const int columns = strip.pitch - 2 * S, count = columns * (strip.rows - 2 * S);
  for (int item = static_cast<int>(threadIdx.x); item < count; item += threads) {
    const int j = item / columns, at = j * strip.pitch + item - j * columns;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k <= 2 * S; ++k)
#pragma unroll
      for (int i = 0; i <= 2 * S; ++i) {
        const std::uint32_t w = tile.word[at + k * strip.pitch + i];
        sum = dot(w, w, sum);
      }
    tile.squares[at + S * strip.pitch + S] = static_cast<float>(sum);
  }
}

template <int N>
__device__ void load_row(const std::uint32_t* at, std::uint32_t (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const uint4 q = *reinterpret_cast<const uint4*>(at + i);
    v[i] = q.x, v[i + 1] = q.y, v[i + 2] = q.z, v[i + 3] = q.w;
  }
}

// Adds or takes away one row of products: columns[d][i] belongs to pixel i and displacement d.
template <int D, int Sign>
__device__ void add_row(const std::uint32_t* here, const std::uint32_t* there, int (&columns)[D][4]) {
  std::uint32_t a[4], b[D + 4];
  load_row(here, a);
  load_row(there, b);
#pragma unroll
  for (int d = 0; d < D; ++d)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      columns[d][i] = Sign > 0 ? dot(a[i], b[d + i], columns[d][i]) : columns[d][i] - dot(a[i], b[d + i], 0);
}

// Channel c of a pixel in levels.
__device__ float level_of(std::uint32_t plain_word, int c) {
  return __uint_as_float(__byte_perm(plain_word, 0x4B000000U, 0x7440U + static_cast<unsigned>(c))) -
         8388608.f;
}

// One row of outputs for D displacements whose first is (first, dy).
template <int C, int S, int D, bool Max>
__device__ void weigh_row(const std::uint32_t* there, const float* squares_here, const float* squares_there,
                          const int (&columns)[D][4], int first, int search, bool same_row,
                          const Weighting& weighting, Totals<C, Max>& totals) {
  std::uint32_t word[D + 4];
  float pa[4], pb[D + 4], b[C][D + 4];
  load_row(there, word);
  load_row(squares_here, pa);
  load_row(squares_there, pb);
#pragma unroll
  for (int k = 0; k < D + 4; ++k)
#pragma unroll
    for (int c = 0; c < C; ++c) b[c][k] = level_of(word[k] ^ offset<C>, c);
#pragma unroll
  for (int d = 0; d < D; ++d) {
    const int dx = first + d;
    if (dx < -search || dx > search || (Max && same_row && dx == 0)) continue;  // the same for all lanes
    float column[4], products[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) column[i] = __int_as_float(columns[d][i]) - bias;
    sum_across<S>(column, products);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float w = weighting(fmaf(-2.f, products[i], pa[i] + pb[d + i]));
      totals.weight[i] += w;
      if constexpr (Max) totals.largest[i] = fmaxf(totals.largest[i], w);
#pragma unroll
      for (int c = 0; c < C; ++c) totals.sum[c][i] = fmaf(w, b[c][d + i], totals.sum[c][i]);
    }
  }
}

template <int C, int S, int G, bool Max>
__global__ void __launch_bounds__(threads, 3)
    packed(const __grid_constant__ Scene scene, const __grid_constant__ Parts parts) {
  extern __shared__ float4 shared[];
  constexpr int idle = (S + 3) / 4, tile_w = strip_width - 8 * idle, D = 4 * G;
  const int a = scene.params.search_radius;
  const Strip strip(a, S, R);
  const int plane = strip.rows * strip.pitch;
  const PackedTile tile0{reinterpret_cast<std::uint32_t*>(shared), reinterpret_cast<float*>(shared) + plane};
  const int other = scene.frames > 1 ? 2 * plane : 0;
  const PackedTile tile1{tile0.word + other, tile0.squares + other};
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int totals_plane = warps * R * strip_width;
  float* totals_at = tile1.squares + plane + warp * R * strip_width + 4 * lane;
  const int x0 = static_cast<int>(blockIdx.x) * tile_w - 4 * idle;
  const int y0 = static_cast<int>(blockIdx.y) * warps * R;
  const Weighting weighting(scene, C);

  load_words<C>(scene, 0, strip, x0 - strip.lead, y0 - S - a, tile0.word);
  for (int r = 0; r < R; ++r) {
    Totals<C, Max> none{};
    none.store(totals_at + r * strip_width, totals_plane);
  }
  __syncthreads();
  sum_squares<S>(strip, tile0);
  const Steps steps(scene, parts, static_cast<int>(blockIdx.z));
  for (int f = steps.first_frame(); steps.has(f); ++f) {
    const PackedTile& searched = f > 0 ? tile1 : tile0;
    if (f > 0) {
      __syncthreads();
      load_words<C>(scene, f, strip, x0 - strip.lead, y0 - S - a, searched.word);
      __syncthreads();
      sum_squares<S>(strip, searched);
    }
    __syncthreads();
    // Rows are counted from the strip's first patch row; its first output is S further on.
    const int here_at = (warp * R + a) * strip.pitch + 4 * lane + strip.lead;
    for (int dy = steps.first_dy(f); dy <= steps.last_dy(f); ++dy)
      for (int group = 0; group < strip.groups; group += G) {
        const int there_at = (warp * R + a + dy) * strip.pitch + 4 * lane + 4 * group;
        const std::uint32_t *here = tile0.word + here_at, *there = searched.word + there_at;
        int columns[D][4];
#pragma unroll
        for (int d = 0; d < D; ++d)
#pragma unroll
          for (int i = 0; i < 4; ++i) columns[d][i] = bias_bits;
#pragma unroll 1
        for (int r = 0; r < 2 * S; ++r)
          add_row<D, 1>(here + r * strip.pitch, there + r * strip.pitch, columns);
#pragma unroll 1
        for (int r = 0; r < R; ++r) {
          const int enters = (r + 2 * S) * strip.pitch, row = (r + S) * strip.pitch;
          add_row<D, 1>(here + enters, there + enters, columns);
          Totals<C, Max> totals;
          totals.load(totals_at + r * strip_width, totals_plane);
          weigh_row<C, S, D, Max>(there + row, tile0.squares + here_at + row,
                                  searched.squares + there_at + row, columns, 4 * group - strip.lead, a,
                                  f == 0 && dy == 0, weighting, totals);
          totals.store(totals_at + r * strip_width, totals_plane);
          add_row<D, -1>(here + r * strip.pitch, there + r * strip.pitch, columns);
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
    std::uint32_t word[4];
    load_row(tile0.word + (warp * R + r + S + a) * strip.pitch + 4 * lane + strip.lead, word);
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        level[c][i] = level_of(word[i] ^ offset<C>, c);
        // As differences from the pixel, which is how the other implementation sums.
        totals.sum[c][i] = fmaf(-totals.weight[i], level[c][i], totals.sum[c][i]);
      }
    leave(scene, parts, x, y, totals, level);
  }
  let_next_kernel_start();
}

template <int C, int S, int G, bool Max>
bool run(const CudaJob& job, const Params& p) {
  constexpr int tile_w = strip_width - 8 * ((S + 3) / 4);
  const Scene scene(job, p);
  const Strip strip(p.search_radius, S, R);
  const int tiles = (scene.frames > 1 ? 4 : 2) * strip.rows * strip.pitch;
  const auto bytes =
      sizeof(float) * static_cast<std::size_t>(tiles + Totals<C, Max>::planes * warps * R * strip_width);
  if (bytes > shared_bytes_per_block()) return false;
  run_parts<C, Max>(packed<C, S, G, Max>,
                    dim3(blocks(job.in.width, tile_w), blocks(job.in.height, warps * R)), bytes, job, scene);
  return true;
}

template <int C, int S>
bool run_radius(const CudaJob& job, const Params& p) {
  if (p.patch_radius != S) {
    if constexpr (S < 6) return run_radius<C, S + 1>(job, p);
    return false;
  }
  if (p.centre_weight == CentreWeight::max) return run<C, S, 2, true>(job, p);
  return p.search_radius < 4 ? run<C, S, 2, false>(job, p) : run<C, S, 4, false>(job, p);
}

}  // namespace

bool run_packed(const CudaJob& job, const Params& p) {
  if (job.in.channels == 1 || job.in.type != SampleType::u8) return false;
  return job.in.channels == 2 ? run_radius<2, 1>(job, p) : run_radius<3, 1>(job, p);
}

}  // namespace quietframe::nlm
