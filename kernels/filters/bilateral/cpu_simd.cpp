// The bilateral filter in vectors, tile by tile: both weights are one power of two.
#include <algorithm>
#include <array>
#include <utility>

#include "extend.hpp"
#include "filters/bilateral/params.hpp"
#include "simd/targets.hpp"
#include "thread_pool.hpp"

#ifndef QUIETFRAME_BILATERAL_TILE
#define QUIETFRAME_BILATERAL_TILE
namespace quietframe::bilateral {

constexpr int tile_columns = 128, tile_rows = 32;

// Pixels of one tile. `in` points to the samples of pixel (0, 0), with `radius` more all round.
struct Tile {
  int channels, radius, width, height;
  std::ptrdiff_t pitch;  ///< floats from row to row of `in`; rows of `out` are tile_columns apart
  std::array<const float*, max_channels> in{};
  std::array<float*, max_channels> out{};
  const float* space;  ///< -log2 of the spatial weight, (2 radius + 1)^2 of them
  float range;         ///< -log2 of the range weight at a difference of one level
};

}  // namespace quietframe::bilateral
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters/bilateral/cpu_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simd/exp2-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quietframe::bilateral {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Differences from the pixel itself are summed, so that a constant comes back exactly.
template <int C>
HWY_NOINLINE void filter_row(const Tile& t, int y) {
  const D d;
  const V range = hn::Set(d, t.range);
  const int r = t.radius;
  for (int x = 0; x < t.width; x += static_cast<int>(hn::Lanes(d))) {
    V own[C], sum[C], weights = hn::Zero(d);
    for (int c = 0; c < C; ++c) {
      own[c] = hn::LoadU(d, t.in[c] + y * t.pitch + x);
      sum[c] = hn::Zero(d);
    }
    const float* space = t.space;
    for (int j = -r; j <= r; ++j) {
      const std::ptrdiff_t at = (y + j) * t.pitch + x;
      for (int i = -r; i <= r; ++i) {
        V difference[C], squares = hn::Zero(d);
        for (int c = 0; c < C; ++c) {
          difference[c] = hn::Sub(hn::LoadU(d, t.in[c] + at + i), own[c]);
          squares = c == 0 ? hn::Mul(difference[c], difference[c])
                           : hn::MulAdd(difference[c], difference[c], squares);
        }
        const V w = simd::HWY_NAMESPACE::exp2_negative(d, hn::MulAdd(squares, range, hn::Set(d, *space++)));
        weights = hn::Add(weights, w);
        for (int c = 0; c < C; ++c) sum[c] = hn::MulAdd(w, difference[c], sum[c]);
      }
    }
    for (int c = 0; c < C; ++c)
      hn::StoreU(hn::Add(own[c], hn::Div(sum[c], weights)), d, t.out[c] + y * tile_columns + x);
  }
}

void filter_tile(const Tile& t) {
  for (int y = 0; y < t.height; ++y) {
    if (t.channels == 1) filter_row<1>(t, y);
    if (t.channels == 2) filter_row<2>(t, y);
    if (t.channels == 3) filter_row<3>(t, y);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::bilateral
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quietframe::bilateral {
namespace {

HWY_EXPORT(filter_tile);

void fill_space(const Params& p, float* space) {
  const double ss = p.sigma_space, scale = 0.5 * 1.4426950408889634 / (ss * ss);
  const int r = radius(p);
  for (int j = -r; j <= r; ++j)
    for (int i = -r; i <= r; ++i) *space++ = static_cast<float>((i * i + j * j) * scale);
}

}  // namespace

void run_simd(CpuJob& job, const Params& p) {
  const double sr = quietframe::bilateral::range(p, joint_sigma(job.sigma.data(), job.in.channels));
  const int r = radius(p), side = 2 * r + 1, w = job.in.width(), h = job.in.height();
  float* space = job.scratch.floats(0, static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  fill_space(p, space);

  const int pitch = (tile_columns + 2 * r + 15) / 16 * 16 + 16;
  const std::size_t in_floats = static_cast<std::size_t>(pitch) * static_cast<std::size_t>(tile_rows + 2 * r);
  constexpr std::size_t out_floats = tile_columns * tile_rows;
  const std::size_t lane_floats = max_channels * (in_floats + out_floats);
  float* memory = job.scratch.floats(1, lane_floats * static_cast<std::size_t>(job.pool.lanes()));
  const int across = (w + tile_columns - 1) / tile_columns, down = (h + tile_rows - 1) / tile_rows;
  job.pool.parallel_for(across * down, 1, [&](int begin, int end, int lane) {
    for (int i = begin; i < end; ++i) {
      float* at = memory + lane_floats * static_cast<std::size_t>(lane);
      const int x0 = i % across * tile_columns, y0 = i / across * tile_rows;
      Tile t{job.in.channels,
             r,
             std::min(tile_columns, w - x0),
             std::min(tile_rows, h - y0),
             pitch,
             {},
             {},
             space,
             static_cast<float>(0.5 * 1.4426950408889634 / (sr * sr))};
      for (int c = 0; c < t.channels; ++c) {
        float* in = std::exchange(at, at + in_floats);
        copy_extended(as_const(job.in.channel[c]), x0 - r, y0 - r, pitch, t.height + 2 * r, in);
        t.in[c] = in + r + std::ptrdiff_t{r} * pitch;
        t.out[c] = std::exchange(at, at + out_floats);
      }
      HWY_DYNAMIC_DISPATCH(filter_tile)(t);
      for (int c = 0; c < t.channels; ++c)
        for (int y = 0; y < t.height; ++y)
          std::copy_n(t.out[c] + y * tile_columns, t.width, job.out.channel[c].row(y0 + y) + x0);
    }
  });
}

}  // namespace quietframe::bilateral
#endif
