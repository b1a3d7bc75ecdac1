// Any rank of any window of 8-bit samples in a time that hardly depends on the window: a histogram for each
// column (Perreault & Hebert 2007), here cumulative, so that a rank is found by one comparison of a vector.
#include <hwy/highway.h>

#include <cstring>

#include "filters/median/tile.hpp"

#if defined(QUIETFRAME_MEDIAN_HISTOGRAM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUIETFRAME_MEDIAN_HISTOGRAM_INL
#undef QUIETFRAME_MEDIAN_HISTOGRAM_INL
#else
#define QUIETFRAME_MEDIAN_HISTOGRAM_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quietframe::median {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sixteen cumulative counts; a window's 5625 samples fit.
using Count = std::int16_t;
using DC = hn::CappedTag<Count, 16>;

HWY_INLINE void add(Count* to, const Count* more) {
  const DC d;
  for (std::size_t i = 0; i < 16; i += hn::Lanes(d))
    hn::Store(hn::Add(hn::Load(d, to + i), hn::Load(d, more + i)), d, to + i);
}
HWY_INLINE void subtract(Count* from, const Count* less) {
  const DC d;
  for (std::size_t i = 0; i < 16; i += hn::Lanes(d))
    hn::Store(hn::Sub(hn::Load(d, from + i), hn::Load(d, less + i)), d, from + i);
}
HWY_INLINE void slide(Count* sum, const Count* in, const Count* out) {
  const DC d;
  for (std::size_t i = 0; i < 16; i += hn::Lanes(d))
    hn::Store(hn::Sub(hn::Add(hn::Load(d, sum + i), hn::Load(d, in + i)), hn::Load(d, out + i)), d, sum + i);
}
// Bins whose cumulative count does not reach beyond `rank`: the bin that holds it.
HWY_INLINE int bin_of(const Count* cumulative, int rank) {
  const DC d;
  const auto beyond = hn::Set(d, static_cast<Count>(rank + 1));
  std::size_t bins = 0;
  for (std::size_t i = 0; i < 16; i += hn::Lanes(d))
    bins += hn::CountTrue(d, hn::Lt(hn::Load(d, cumulative + i), beyond));
  return static_cast<int>(bins);
}

// Columns of a tile: coarse[x] counts samples by their upper four bits, fine[s][x] those with upper bits s by
// their lower four.
struct Columns {
  static constexpr std::size_t room = histogram_columns + 2 * max_halo;
  alignas(64) Count coarse[room][16];
  alignas(64) Count fine[16][room][16];
  alignas(64) Count unit[16][16];  ///< unit[b]: one sample in bin b

  void clear() {
    std::memset(this, 0, sizeof *this);
    for (int b = 0; b < 16; ++b)
      for (int i = b; i < 16; ++i) unit[b][i] = 1;
  }
  HWY_INLINE void insert(int x, unsigned v) {
    add(coarse[x], unit[v >> 4]);
    add(fine[v >> 4][x], unit[v & 15]);
  }
  HWY_INLINE void remove(int x, unsigned v) {
    subtract(coarse[x], unit[v >> 4]);
    subtract(fine[v >> 4][x], unit[v & 15]);
  }
};

// The window that moves along a row; its fine counts are brought up to date only where they are asked for.
struct Moving {
  alignas(64) Count coarse[16];
  alignas(64) Count fine[16][16];
  int at[16];  ///< column that fine[s] stands at

  HWY_INLINE void start(const Columns& c, int width) {
    std::memset(coarse, 0, sizeof coarse);
    for (int x = 0; x < width; ++x) add(coarse, c.coarse[x]);
    for (int& x : at) x = -max_window - histogram_columns;
  }
  HWY_INLINE const Count* fine_at(const Columns& c, int s, int x, int width) {
    if (2 * (x - at[s]) > width) {
      std::memset(fine[s], 0, sizeof fine[s]);
      for (int i = x; i < x + width; ++i) add(fine[s], c.fine[s][i]);
    } else {
      for (int i = at[s] + 1; i <= x; ++i) slide(fine[s], c.fine[s][i + width - 1], c.fine[s][i - 1]);
    }
    at[s] = x;
    return fine[s];
  }
};

HWY_INLINE void histogram_row(const Tile<std::uint8_t>& t, const Columns& c, Moving& m, std::uint8_t* out) {
  const int width = t.window.width;
  m.start(c, width);
  for (int x = 0; x < t.width; ++x) {
    if (x > 0) slide(m.coarse, c.coarse[x + width - 1], c.coarse[x - 1]);
    const int upper = bin_of(m.coarse, t.window.rank);
    const int below = upper > 0 ? m.coarse[upper - 1] : 0;
    const int lower = bin_of(m.fine_at(c, upper, x, width), t.window.rank - below);
    out[x] = static_cast<std::uint8_t>(upper * 16 + lower);
  }
}

// `memory` holds histogram_bytes() and is aligned to 64.
void histogram(const Tile<std::uint8_t>& t, void* memory) {
  auto& columns = *static_cast<Columns*>(memory);
  columns.clear();
  Moving moving;
  const int across = t.width + t.window.width - 1;
  for (int y = 0; y < t.window.height - 1; ++y)
    for (int x = 0; x < across; ++x) columns.insert(x, t.in[y * t.in_pitch + x]);
  for (int y = 0; y < t.height; ++y) {
    const std::uint8_t* newest = t.in + (y + t.window.height - 1) * t.in_pitch;
    for (int x = 0; x < across; ++x) columns.insert(x, newest[x]);
    histogram_row(t, columns, moving, t.out + y * t.out_pitch);
    const std::uint8_t* oldest = t.in + y * t.in_pitch;
    for (int x = 0; x < across; ++x) columns.remove(x, oldest[x]);
  }
}

std::size_t histogram_bytes() { return sizeof(Columns); }

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::median
HWY_AFTER_NAMESPACE();

#endif
