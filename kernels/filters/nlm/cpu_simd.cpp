// Non-local means in vectors, tile by tile: box sums of one displacement after another without running totals
// that are taken away from, so that no result depends on where a tile begins.
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

#include "simd/exp2-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quietframe::nlm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Sum of the last 2P + 1 vectors pushed, always added in the same order: sums of 2, 4 and 8 that end at the
// newest are kept, and joined.
template <int P>
class LastSum {
 public:
  // Not member initialisers: the compiler would not give those the instruction set.
  HWY_INLINE LastSum() {
    const V zero = hn::Zero(D());
    even_ = one_ = two_[0] = two_[1] = zero;
    for (int i = 0; i < 4; ++i) four_[i] = eight_[i] = zero;
  }

  HWY_INLINE V push(V v) {
    if constexpr (P == 0) return v;
    const V all = hn::Add(even_, v);
    const V two = hn::Add(v, one_);
    const V four = P >= 2 ? hn::Add(two, two_[1]) : two;
    const V eight = P >= 4 ? hn::Add(four, four_[3]) : four;
    if constexpr (P == 1) even_ = two;
    if constexpr (P == 2) even_ = four;
    if constexpr (P == 3) even_ = hn::Add(two, four_[1]);
    if constexpr (P == 4) even_ = eight;
    if constexpr (P == 5) even_ = hn::Add(two, eight_[1]);
    if constexpr (P == 6) even_ = hn::Add(four, eight_[3]);
    one_ = v;
    shift(two_, two);
    shift(four_, four);
    shift(eight_, eight);
    return all;
  }

 private:
  template <std::size_t N>
  static HWY_INLINE void shift(V (&v)[N], V newest) {
    for (std::size_t i = N - 1; i > 0; --i) v[i] = v[i - 1];
    v[0] = newest;
  }
  V even_, one_, two_[2], four_[4], eight_[4];
};

// Squared difference of the samples at `a` here and `b` there, summed over the channels.
template <int C>
HWY_INLINE V squares(const Tile& t, std::ptrdiff_t a, std::ptrdiff_t b) {
  const D d;
  V sum = hn::Zero(d);
  for (int c = 0; c < C; ++c) {
    const V v = hn::Sub(hn::LoadU(d, t.here[c] + a), hn::LoadU(d, t.there[c] + b));
    sum = c == 0 ? hn::Mul(v, v) : hn::MulAdd(v, v, sum);
  }
  return sum;
}

// Vertical sums of 2P + 1 squared differences for a displacement of `offset` samples.
template <int P, int C>
HWY_NOINLINE void column_sums(const Tile& t, std::ptrdiff_t offset, float* out) {
  const D d;
  const int columns = t.width + 2 * P;
  for (int x = 0; x < columns; x += static_cast<int>(hn::Lanes(d))) {
    LastSum<P> sum;
    std::ptrdiff_t a = -P * t.pitch - P + x;
    for (int y = 0; y < 2 * P; ++y, a += t.pitch) sum.push(squares<C>(t, a, a + offset));
    for (int y = 0; y < t.height; ++y, a += t.pitch)
      hn::StoreU(sum.push(squares<C>(t, a, a + offset)), d, out + y * tile_pitch + x);
  }
}

// The whole patch, sample by sample.
template <int C>
HWY_NOINLINE void patch_sums(const Tile& t, std::ptrdiff_t offset, float* out) {
  const D d;
  const int p = t.patch;
  for (int y = 0; y < t.height; ++y)
    for (int x = 0; x < t.width; x += static_cast<int>(hn::Lanes(d))) {
      V sum = hn::Zero(d);
      for (int j = -p; j <= p; ++j)
        for (int i = -p; i <= p; ++i) {
          const std::ptrdiff_t a = (y + j) * t.pitch + x + i;
          sum = hn::Add(sum, squares<C>(t, a, a + offset));
        }
      hn::StoreU(sum, d, out + y * tile_pitch + x);
    }
}

template <int P>
HWY_INLINE V row_sum(const float* at) {
  const D d;
  V sum = hn::LoadU(d, at);
  for (int i = 1; i <= 2 * P; ++i) sum = hn::Add(sum, hn::LoadU(d, at + i));
  return sum;
}

// Turns the sums of N displacements into weights, and adds what they weigh to the totals.
template <int P, int C, int N, bool Best>
HWY_NOINLINE void accumulate(const Tile& t, const std::ptrdiff_t* offsets, const Weighting& k) {
  const D d;
  const V scale = hn::Set(d, k.scale), subtracted = hn::Set(d, -k.subtracted), zero = hn::Zero(d);
  for (int y = 0; y < t.height; ++y)
    for (int x = 0; x < t.width; x += static_cast<int>(hn::Lanes(d))) {
      const std::ptrdiff_t at = y * tile_pitch + x, a = y * t.pitch + x;
      V w[N];
      for (int n = 0; n < N; ++n) {
        const V distance = hn::MulAdd(row_sum<P>(t.box[n] + at), scale, subtracted);
        w[n] = simd::HWY_NAMESPACE::exp2_negative(d, hn::Max(distance, zero));
      }
      V weight = hn::Load(d, t.weight + at);
      for (int n = 0; n < N; ++n) weight = hn::Add(weight, w[n]);
      hn::Store(weight, d, t.weight + at);
      if constexpr (Best) {
        V best = hn::Load(d, t.largest + at);
        for (int n = 0; n < N; ++n) best = hn::Max(best, w[n]);
        hn::Store(best, d, t.largest + at);
      }
      for (int c = 0; c < C; ++c) {
        const V own = hn::LoadU(d, t.here[c] + a);
        V sum = hn::Load(d, t.sum[c] + at);
        for (int n = 0; n < N; ++n)
          sum = hn::MulAdd(w[n], hn::Sub(hn::LoadU(d, t.there[c] + a + offsets[n]), own), sum);
        hn::Store(sum, d, t.sum[c] + at);
      }
    }
}

template <int P, int C, int N, bool Best>
void add_displacements(const Tile& t, const Plan& plan, const std::ptrdiff_t* offsets) {
  if (plan.direct) {
    for (int n = 0; n < N; ++n) patch_sums<C>(t, offsets[n], t.box[n]);
    accumulate<0, C, N, Best>(t, offsets, plan.weighting);
  } else {
    for (int n = 0; n < N; ++n) column_sums<P, C>(t, offsets[n], t.box[n]);
    accumulate<P, C, N, Best>(t, offsets, plan.weighting);
  }
}

template <int P, int C, bool Best>
void add_window(const Tile& t, const Plan& plan) {
  std::ptrdiff_t waiting[pairs];
  int n = 0;
  for (int dy = -t.search; dy <= t.search; ++dy)
    for (int dx = -t.search; dx <= t.search; ++dx) {
      if (plan.current && dx == 0 && dy == 0) continue;
      waiting[n++] = dy * t.pitch + dx;
      if (n == pairs) {
        add_displacements<P, C, pairs, Best>(t, plan, waiting);
        n = 0;
      }
    }
  if (n == 1) add_displacements<P, C, 1, Best>(t, plan, waiting);
}

template <int P>
void add_window_of(const Tile& t, const Plan& plan) {
  const auto pick = [&](auto channels) {
    constexpr int C = decltype(channels)::value;
    plan.track_best ? add_window<P, C, true>(t, plan) : add_window<P, C, false>(t, plan);
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

// Floats of one frame of a tile. Its rows begin so that the first column of box sums is aligned.
struct TileShape {
  int margin, lead, rows;
  std::ptrdiff_t pitch;

  explicit TileShape(const Params& p)
      : margin(p.search_radius + p.patch_radius),
        lead((p.search_radius + 15) / 16 * 16 - p.search_radius),
        rows(tile_rows + 2 * margin),
        pitch((lead + tile_columns + 2 * p.search_radius + 15) / 16 * 16 + 16) {}
  std::size_t floats() const { return static_cast<std::size_t>(pitch) * static_cast<std::size_t>(rows); }
  const float* origin(const float* tile) const { return tile + lead + margin + margin * pitch; }
};

// Copies the neighbourhood of the tile at (x0, y0).
void load_tile(const ImageView<float>& in, int x0, int y0, const TileShape& shape, float* out) {
  copy_extended(as_const(in), x0 - shape.margin - shape.lead, y0 - shape.margin,
                static_cast<int>(shape.pitch), shape.rows, out);
}

// What one lane works in.
struct Lane {
  std::array<float*, max_channels> here{}, there{};
  Tile tile{};

  Lane(float* memory, const TileShape& shape) {
    auto take = [&](std::size_t n) { return std::exchange(memory, memory + n); };
    constexpr std::size_t totals = static_cast<std::size_t>(tile_pitch) * tile_rows;
    for (auto& p : here) p = take(shape.floats());
    for (auto& p : there) p = take(shape.floats());
    for (auto& p : tile.box) p = take(totals);
    for (auto& p : tile.sum) p = take(totals);
    tile.weight = take(totals);
    tile.largest = take(totals);
  }
  static std::size_t floats(const TileShape& shape) {
    return 2 * max_channels * shape.floats() +
           (pairs + max_channels + 2) * static_cast<std::size_t>(tile_pitch) * tile_rows;
  }
};

void store(const CpuJob& job, int x0, int y0, CentreWeight centre, const Tile& t) {
  for (int c = 0; c < t.channels; ++c)
    for (int y = 0; y < t.height; ++y) {
      const float* in = job.in.channel[c].row(y0 + y) + x0;
      float* out = job.out.channel[c].row(y0 + y) + x0;
      const std::ptrdiff_t at = y * tile_pitch;
      const float *sum = t.sum[c] + at, *weight = t.weight + at, *largest = t.largest + at;
      if (centre == CentreWeight::one)
        for (int x = 0; x < t.width; ++x) out[x] = in[x] + sum[x] / (weight[x] + 1.f);
      else
        for (int x = 0; x < t.width; ++x)
          out[x] = in[x] + sum[x] / (weight[x] + std::max(largest[x], min_centre_weight));
    }
}

void filter_tile(const CpuJob& job, const Params& p, const TileShape& shape, Plan plan, int x0, int y0,
                 Lane& lane) {
  Tile& t = lane.tile;
  t.channels = job.in.channels;
  t.patch = p.patch_radius;
  t.search = p.search_radius;
  t.width = std::min(tile_columns - 2 * p.patch_radius, job.in.width() - x0);
  t.height = std::min(tile_rows, job.in.height() - y0);
  t.pitch = shape.pitch;
  for (int c = 0; c < t.channels; ++c) {
    load_tile(job.in.channel[c], x0, y0, shape, lane.here[c]);
    t.here[c] = t.there[c] = shape.origin(lane.here[c]);
    std::fill(t.sum[c], t.sum[c] + tile_pitch * tile_rows, 0.f);
  }
  std::fill(t.weight, t.weight + tile_pitch * tile_rows, 0.f);
  std::fill(t.largest, t.largest + tile_pitch * tile_rows, 0.f);
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
  const int side = 2 * p.patch_radius + 1;
  Plan plan{};
  plan.direct = p.implementation == Implementation::direct ||
                (p.implementation == Implementation::automatic && p.patch_radius == 0);
  plan.track_best = p.centre_weight == CentreWeight::max;
  plan.weighting = {static_cast<float>(log2_e / (side * side * job.in.channels * h * h)),
                    static_cast<float>(log2_e * 2 * sigma * sigma / (h * h))};

  const TileShape shape(p);
  const int tile_width = tile_columns - 2 * p.patch_radius;
  const int across = (job.in.width() + tile_width - 1) / tile_width;
  const int down = (job.in.height() + tile_rows - 1) / tile_rows;
  const std::size_t lane_floats = Lane::floats(shape);
  float* memory = job.scratch.floats(0, lane_floats * static_cast<std::size_t>(job.pool.lanes()));
  job.pool.parallel_for(across * down, 1, [&](int begin, int end, int index) {
    Lane lane(memory + lane_floats * static_cast<std::size_t>(index), shape);
    for (int i = begin; i < end; ++i)
      filter_tile(job, p, shape, plan, i % across * tile_width, i / across * tile_rows, lane);
  });
}

}  // namespace quietframe::nlm
#endif
