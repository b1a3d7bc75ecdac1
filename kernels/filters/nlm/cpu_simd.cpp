// Non-local means in vectors, tile by tile: box sums of one displacement after another without running totals
// that are taken away from, so that no result depends on where a tile begins. A pair of pixels is weighed
// once, and counts for both.
#include <algorithm>
#include <cstring>
#include <utility>

#include "extend.hpp"
#include "filters/nlm/params.hpp"
#include "filters/nlm/tile.hpp"
#include "simd/targets.hpp"
#include "thread_pool.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters/nlm/cpu_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "filters/nlm/last_sum-inl.hpp"
#include "simd/exp2-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quietframe::nlm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Squared difference of the samples at `a` here and `b` there, summed over the channels. Rounded before
// anything is added to it, also where the compiler would contract a product and a sum to FMA: which of them
// it contracts depends on the place in a tile.
template <int C>
HWY_INLINE V squares(const Tile& t, std::ptrdiff_t a, std::ptrdiff_t b) {
  const D d;
  V sum = hn::Zero(d);
  for (int c = 0; c < C; ++c) {
    const V v = hn::Sub(hn::LoadU(d, t.here[c] + a), hn::LoadU(d, t.there[c] + b));
    sum = hn::MulAdd(v, v, sum);
  }
  return sum;
}

struct Displacement {
  int dx, dy;
};

// Pixels to be compared with those at a displacement, so that both ends of every pair that touches the tile
// are served. Columns begin at a multiple of a vector.
struct Cover {
  int top, left, right;

  Cover(const Tile& t, Displacement d, bool current) : top(0), left(0), right(t.width) {
    if (!current) return;
    const int lanes = static_cast<int>(hn::Lanes(D()));
    top = -d.dy;
    left = -((std::max(d.dx, 0) + lanes - 1) / lanes * lanes);
    right = std::max(t.width, t.width - d.dx);
  }
};

// Vertical sums of 2P + 1 squared differences.
template <int P, int C>
HWY_NOINLINE void column_sums(const Tile& t, Displacement move, const Cover& r, float* out) {
  const D d;
  const std::ptrdiff_t offset = move.dy * t.pitch + move.dx;
  for (int x = r.left; x < r.right + 2 * P; x += static_cast<int>(hn::Lanes(d))) {
    LastSum<P> sum;
    std::ptrdiff_t a = (r.top - P) * t.pitch - P + x;
    for (int y = 0; y < 2 * P; ++y, a += t.pitch) sum.push(squares<C>(t, a, a + offset));
    for (int y = r.top; y < t.height; ++y, a += t.pitch)
      hn::Store(sum.push(squares<C>(t, a, a + offset)), d, out + y * tile_pitch + x);
  }
}

// The whole patch, sample by sample.
template <int C>
HWY_NOINLINE void patch_sums(const Tile& t, Displacement move, const Cover& r, float* out) {
  const D d;
  const int p = t.patch;
  const std::ptrdiff_t offset = move.dy * t.pitch + move.dx;
  for (int y = r.top; y < t.height; ++y)
    for (int x = r.left; x < r.right; x += static_cast<int>(hn::Lanes(d))) {
      V sum = hn::Zero(d);
      for (int j = -p; j <= p; ++j)
        for (int i = -p; i <= p; ++i) {
          const std::ptrdiff_t a = (y + j) * t.pitch + x + i;
          sum = hn::Add(sum, squares<C>(t, a, a + offset));
        }
      hn::Store(sum, d, out + y * tile_pitch + x);
    }
}

template <int P>
HWY_INLINE V row_sum(const float* at) {
  const D d;
  V sum = hn::Load(d, at);
  for (int i = 1; i <= 2 * P; ++i) sum = hn::Add(sum, hn::LoadU(d, at + i));
  return sum;
}

HWY_INLINE void add_to(float* at, V v) { hn::StoreU(hn::Add(hn::LoadU(D(), at), v), D(), at); }
HWY_INLINE void take_from(float* at, V v) { hn::StoreU(hn::Sub(hn::LoadU(D(), at), v), D(), at); }
HWY_INLINE void raise_to(float* at, V v) { hn::StoreU(hn::Max(hn::LoadU(D(), at), v), D(), at); }

// Turns the sums of N displacements into weights, and adds what they weigh to the totals: of both ends of
// each pair if it is Mirrored.
template <int P, int C, int N, bool Mirrored>
HWY_NOINLINE void accumulate(const Tile& t, const Displacement* moves, const Cover& r, const Plan& plan) {
  const D d;
  const V scale = hn::Set(d, plan.weighting.scale), subtracted = hn::Set(d, plan.weighting.subtracted);
  const V most = hn::Set(d, 126.f / plan.weighting.scale), zero = hn::Zero(d);
  const bool subtract = plan.weighting.subtracted > 0.f, track_best = plan.track_best;
  std::ptrdiff_t offset[N], end[N];
  for (int n = 0; n < N; ++n) {
    offset[n] = moves[n].dy * t.pitch + moves[n].dx;
    end[n] = moves[n].dy * tile_pitch + moves[n].dx;
  }
  for (int y = r.top; y < t.height; ++y) {
    // Rows of everything, so that the compiler need not fetch pointers again after each store.
    const std::ptrdiff_t at = y * std::ptrdiff_t{tile_pitch}, a = y * t.pitch;
    const float *box[N], *here[C], *there[C];
    float *begun_sum[C], *ended_sum[C];
    for (int n = 0; n < N; ++n) box[n] = t.box[n] + at;
    for (int c = 0; c < C; ++c) {
      here[c] = t.here[c] + a;
      there[c] = t.there[c] + a;
      begun_sum[c] = t.begun.sum[c] + at;
      ended_sum[c] = t.ended.sum[c] + at;
    }
    float *begun_weight = t.begun.weight + at, *ended_weight = t.ended.weight + at, *best = t.largest + at;
    for (int x = r.left; x < r.right; x += static_cast<int>(hn::Lanes(d))) {
      V w[N];
      for (int n = 0; n < N; ++n) {
        V distance = row_sum<P>(box[n] + x);
        if (subtract) distance = hn::Max(hn::Sub(distance, subtracted), zero);
        w[n] = simd::HWY_NAMESPACE::exp2_negative(d, distance, scale, most);
      }
      V weight = hn::Load(d, begun_weight + x);
      for (int n = 0; n < N; ++n) weight = hn::Add(weight, w[n]);
      hn::Store(weight, d, begun_weight + x);
      for (int c = 0; c < C; ++c) {
        const V own = hn::LoadU(d, here[c] + x);
        V sum = hn::Load(d, begun_sum[c] + x);
        for (int n = 0; n < N; ++n) {
          const V weighed = hn::Mul(w[n], hn::Sub(hn::LoadU(d, there[c] + x + offset[n]), own));
          sum = hn::Add(sum, weighed);
          if constexpr (Mirrored) take_from(ended_sum[c] + x + end[n], weighed);
        }
        hn::Store(sum, d, begun_sum[c] + x);
      }
      for (int n = 0; n < N; ++n) {
        if constexpr (Mirrored) add_to(ended_weight + x + end[n], w[n]);
        if (track_best) {
          raise_to(best + x, w[n]);
          if constexpr (Mirrored) raise_to(best + x + end[n], w[n]);
        }
      }
    }
  }
}

template <int P, int C, int N, bool Mirrored>
void add_displacements(const Tile& t, const Plan& plan, const Displacement* moves) {
  Cover all(t, moves[0], Mirrored);
  for (int n = 1; n < N; ++n) {
    const Cover r(t, moves[n], Mirrored);
    all.top = std::min(all.top, r.top);
    all.left = std::min(all.left, r.left);
    all.right = std::max(all.right, r.right);
  }
  if (plan.direct) {
    for (int n = 0; n < N; ++n) patch_sums<C>(t, moves[n], all, t.box[n]);
    accumulate<0, C, N, Mirrored>(t, moves, all, plan);
  } else {
    for (int n = 0; n < N; ++n) column_sums<P, C>(t, moves[n], all, t.box[n]);
    accumulate<P, C, N, Mirrored>(t, moves, all, plan);
  }
}

// Each pair of pixels once: the displacements of one half of the window. They are an even number. Going down
// the columns, two done at a time write to different rows, which spares the second a wait for the first.
template <int P, int C>
void add_half_window(const Tile& t, const Plan& plan) {
  static_assert(pairs == 2);
  Displacement waiting[pairs];
  int n = 0;
  for (int dx = -t.search; dx <= t.search; ++dx)
    for (int dy = dx > 0 ? 0 : 1; dy <= t.search; ++dy) {
      waiting[n++] = {dx, dy};
      if (n < pairs) continue;
      add_displacements<P, C, pairs, true>(t, plan, waiting);
      n = 0;
    }
}

template <int P, int C>
void add_whole_window(const Tile& t, const Plan& plan) {
  Displacement waiting[pairs];
  int n = 0;
  for (int dy = -t.search; dy <= t.search; ++dy)
    for (int dx = -t.search; dx <= t.search; ++dx) {
      waiting[n++] = {dx, dy};
      if (n < pairs) continue;
      add_displacements<P, C, pairs, false>(t, plan, waiting);
      n = 0;
    }
  if (n == 1) add_displacements<P, C, 1, false>(t, plan, waiting);
}

template <int P>
void add_window_of(const Tile& t, const Plan& plan) {
  const auto pick = [&](auto channels) {
    constexpr int C = decltype(channels)::value;
    plan.current ? add_half_window<P, C>(t, plan) : add_whole_window<P, C>(t, plan);
  };
  if (t.channels == 1) pick(std::integral_constant<int, 1>());
  if (t.channels == 2) pick(std::integral_constant<int, 2>());
  if (t.channels == 3) pick(std::integral_constant<int, 3>());
}

void add_frame(const Tile& t, const Plan& plan) {
  static constexpr void (*by_patch[])(const Tile&, const Plan&) = {
      add_window_of<0>, add_window_of<1>, add_window_of<2>, add_window_of<3>,
      add_window_of<4>, add_window_of<5>, add_window_of<6>};
  by_patch[plan.direct ? 0 : t.patch](t, plan);
}

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::nlm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quietframe::nlm {
namespace {

HWY_EXPORT(add_frame);

// Floats of one frame of a tile, and of its box sums and totals.
struct TileShape {
  int patch, search, margin, lead, rows;
  std::ptrdiff_t pitch;

  explicit TileShape(const Params& p)
      : patch(p.patch_radius),
        search(p.search_radius),
        margin(search + patch),
        lead(tile_lead + patch),  // the first column of the patch of a vector's first pixel is aligned
        rows(tile_rows + 2 * margin),
        pitch((lead + tile_columns + 38 + 15) / 16 * 16) {}
  std::size_t floats() const { return static_cast<std::size_t>(pitch) * static_cast<std::size_t>(rows); }
  const float* origin(const float* tile) const { return tile + lead + margin * pitch; }

  std::size_t total_floats() const {
    return static_cast<std::size_t>(tile_pitch) * static_cast<std::size_t>(tile_rows + 2 * search);
  }
  std::ptrdiff_t total_origin() const { return tile_lead + std::ptrdiff_t{search} * tile_pitch; }
};

// Copies the neighbourhood of the tile at (x0, y0).
void load_tile(const ImageView<float>& in, int x0, int y0, const TileShape& shape, float* out) {
  copy_extended(as_const(in), x0 - shape.lead, y0 - shape.margin, static_cast<int>(shape.pitch), shape.rows,
                out);
}

// What one lane works in.
struct Lane {
  std::array<float*, max_channels> here{}, there{};
  Tile tile{};

  Lane(float* memory, const TileShape& shape) {
    auto take = [&](std::size_t n) { return std::exchange(memory, memory + n); };
    for (auto& p : here) p = take(shape.floats());
    for (auto& p : there) p = take(shape.floats());
    for (auto& p : tile.box) p = take(shape.total_floats()) + shape.total_origin();
    for (auto* t : {&tile.begun, &tile.ended}) {
      t->weight = take(shape.total_floats()) + shape.total_origin();
      for (auto& p : t->sum) p = take(shape.total_floats()) + shape.total_origin();
    }
    tile.largest = take(shape.total_floats()) + shape.total_origin();
  }
  static std::size_t floats(const TileShape& shape) {
    return 2 * max_channels * shape.floats() + (pairs + 2 * (1 + max_channels) + 1) * shape.total_floats();
  }

  void clear(const TileShape& shape, const Plan& plan) {
    auto zero = [&](float* p) { std::fill_n(p - shape.total_origin(), shape.total_floats(), 0.f); };
    for (auto* t : {&tile.begun, &tile.ended}) {
      zero(t->weight);
      for (int c = 0; c < tile.channels; ++c) zero(t->sum[c]);
    }
    if (plan.track_best) zero(tile.largest);
  }
};

void store(const CpuJob& job, int x0, int y0, CentreWeight centre, const Tile& t) {
  for (int c = 0; c < t.channels; ++c)
    for (int y = 0; y < t.height; ++y) {
      const float* in = job.in.channel[c].row(y0 + y) + x0;
      float* out = job.out.channel[c].row(y0 + y) + x0;
      const std::ptrdiff_t at = y * std::ptrdiff_t{tile_pitch};
      const float *sum = t.begun.sum[c] + at, *mirrored = t.ended.sum[c] + at;
      const float *weight = t.begun.weight + at, *mirrored_weight = t.ended.weight + at;
      const float* largest = t.largest + at;
      const bool one = centre == CentreWeight::one;
      for (int x = 0; x < t.width; ++x) {
        const float own = one ? 1.f : std::max(largest[x], min_centre_weight);
        out[x] = in[x] + (sum[x] + mirrored[x]) / (weight[x] + mirrored_weight[x] + own);
      }
    }
}

void filter_tile(const CpuJob& job, const Params& p, const TileShape& shape, Plan plan, int x0, int y0,
                 Lane& lane) {
  Tile& t = lane.tile;
  t.channels = job.in.channels;
  t.patch = p.patch_radius;
  t.search = p.search_radius;
  t.width = std::min(tile_columns, job.in.width() - x0);
  t.height = std::min(tile_rows, job.in.height() - y0);
  t.pitch = shape.pitch;
  for (int c = 0; c < t.channels; ++c) {
    load_tile(job.in.channel[c], x0, y0, shape, lane.here[c]);
    t.here[c] = t.there[c] = shape.origin(lane.here[c]);
  }
  lane.clear(shape, plan);
  plan.current = true;
  HWY_DYNAMIC_DISPATCH(add_frame)(t, plan);
  plan.current = false;
  for (const auto& past :
       job.past.first(std::min(job.past.size(), static_cast<std::size_t>(p.temporal_radius)))) {
    for (int c = 0; c < t.channels; ++c) {
      load_tile(past.channel[c], x0, y0, shape, lane.there[c]);
      t.there[c] = shape.origin(lane.there[c]);
    }
    HWY_DYNAMIC_DISPATCH(add_frame)(t, plan);
  }
  store(job, x0, y0, p.centre_weight, t);
}

}  // namespace

void run_simd(CpuJob& job, const Params& p) {
  constexpr double log2_e = 1.4426950408889634;
  const double h = strength(p, joint_sigma(job.sigma.data(), job.in.channels)), sigma = p.sigma;
  const int side = 2 * p.patch_radius + 1, samples = side * side * job.in.channels;
  Plan plan{};
  plan.direct = p.implementation == Implementation::direct ||
                (p.implementation == Implementation::automatic && p.patch_radius == 0);
  plan.track_best = p.centre_weight == CentreWeight::max;
  plan.weighting = {static_cast<float>(log2_e / (samples * h * h)),
                    static_cast<float>(2 * sigma * sigma * samples)};

  const TileShape shape(p);
  const int across = (job.in.width() + tile_columns - 1) / tile_columns;
  const int down = (job.in.height() + tile_rows - 1) / tile_rows;
  const std::size_t lane_floats = Lane::floats(shape);
  float* memory = job.scratch.floats(0, lane_floats * static_cast<std::size_t>(job.pool.lanes()));
  job.pool.parallel_for(across * down, 1, [&](int begin, int end, int index) {
    Lane lane(memory + lane_floats * static_cast<std::size_t>(index), shape);
    for (int i = begin; i < end; ++i)
      filter_tile(job, p, shape, plan, i % across * tile_columns, i / across * tile_rows, lane);
  });
}

}  // namespace quietframe::nlm
#endif
