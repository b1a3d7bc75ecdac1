// What a block of the data-aware median does to one root tile. The code is the same for a block of CUDA
// threads and for a test on the CPU: work is divided into items that may run in any order, step after step.
#pragma once
#include "filters/median/sorted_runs.hpp"
#include "filters/median/tiling.hpp"

namespace quietframe::median {

/// Bits 0, 2, 4, 6.
QF_HD inline int even_bits(int w) {
  w &= 0x55;
  w = (w | w >> 1) & 0x33;
  return (w | w >> 2) & 0x0f;
}

/// Team::each(n, f) calls f(0) .. f(n - 1) in any order and returns when all are done.
template <class Key, int Leaf, class Team>
class TilingBlock {
 public:
  QF_HD TilingBlock(const Tiling& tiling, Key* memory, Team& team) : t_(tiling), m_(memory), team_(team) {}

  /// Reads the footprint of the tile whose first window begins at sample(0, 0).
  template <class Sample>
  QF_HD void read(const Sample& sample);
  /// Makes all results of the tile.
  QF_HD void filter() {
    sort_root();
    const int deep = t_.choice.depth_first;
    for (subtree_ = 0; subtree_ < t_.subtrees(); ++subtree_) {
      // Nodes whose bits are as they were for the last subtree are still there.
      int first = 1;
      if (subtree_ > 0)
        for (first = deep; (subtree_ >> (deep - first) & 1) == 0;) --first;
      for (int level = first; level <= t_.levels; ++level) halve(level);
      if constexpr (Leaf == 2) {
        halve(t_.levels + 1);
        select_in_pairs();
      } else {
        select();
      }
    }
  }
  QF_HD Key result(int x, int y) const { return m_[t_.results + y * t_.choice.width + x]; }

 private:
  QF_HD static int runs(int length) { return (length + run - 1) / run; }

  // --- root ---------------------------------------------------------------------------------------------

  QF_HD static int passes(int length) {
    int n = 0;
    for (int sorted = run; sorted < length; sorted *= 2) ++n;
    return n;
  }
  /// Where sorted runs of `list` lie before pass `pass`, so that the last pass leaves them at `home`.
  QF_HD Key* side(const ListSet& home, const ListSet& spare, int pass) const {
    return m_ + ((passes(home.length) - pass) % 2 == 0 ? home.offset : spare.offset);
  }

  template <class Read>
  QF_HD static void sort_run(Key* out, int left, const Read& sample) {
    Key v[run];
    QF_UNROLL
    for (int j = 0; j < run; ++j) v[j] = j < left ? sample(j) : std::numeric_limits<Key>::max();
    apply<SortNetwork<run>>(v);
    store_run(run_of(v), left, out);
  }

  QF_HD void sort_root() {
    const int core_passes = passes(t_.whole_core.length), column_passes = passes(t_.columns.length);
    const int row_passes = passes(t_.rows.length);
    const int column_runs = runs(t_.columns.length), row_runs = runs(t_.rows.length);
    for (int pass = 0; pass < core_passes || pass < column_passes || pass < row_passes; ++pass) {
      // The last pass over the core makes only what the root needs of it.
      const bool crop = pass == core_passes - 1;
      const int first = crop ? t_.core_first : 0, kept = crop ? t_.core.length : t_.whole_core.length;
      const int core_items = pass < core_passes ? runs(kept) : 0;
      const int column_items = pass < column_passes ? column_runs * t_.columns.count : 0;
      const int row_items = pass < row_passes ? row_runs * t_.rows.count : 0;
      team_.each(core_items + column_items + row_items, [&](int i) {
        if (i < core_items) {
          merge_pass(side(t_.whole_core, t_.spare[0], pass), side(t_.whole_core, t_.spare[0], pass + 1),
                     t_.whole_core.length, pass, first, kept, i * run);
        } else if (i < core_items + column_items) {
          const int c = t_.by_column_runs(i - core_items), at = c * t_.columns.pitch;
          merge_pass(side(t_.columns, t_.spare[1], pass) + at, side(t_.columns, t_.spare[1], pass + 1) + at,
                     t_.columns.length, pass, 0, t_.columns.length, (i - core_items - c * column_runs) * run);
        } else {
          const int r = t_.by_row_runs(i - core_items - column_items), at = r * t_.rows.pitch;
          merge_pass(side(t_.rows, t_.spare[2], pass) + at, side(t_.rows, t_.spare[2], pass + 1) + at,
                     t_.rows.length, pass, 0, t_.rows.length,
                     (i - core_items - column_items - r * row_runs) * run);
        }
      });
    }
  }

  // Merges two neighbouring sorted runs of `length` samples, as far as out[at] and what a thread makes with
  // it. The output begins with the sample that would be at `first`.
  QF_HD static void merge_pass(const Key* in, Key* out, int length, int pass, int first, int kept, int at) {
    const int sorted = run << pass, begin = (first + at) & ~(2 * sorted - 1);
    const Key* a = in + begin;
    const int na = min_(sorted, length - begin), nb = max_(0, min_(sorted, length - begin - sorted));
    merge_parts(a, na, a + sorted, nb, first + at - begin, kept - at, out + at);
  }

  QF_HD static int min_(int a, int b) { return a < b ? a : b; }
  QF_HD static int max_(int a, int b) { return a > b ? a : b; }

  // --- tree -----------------------------------------------------------------------------------------------

  /// A node of a level: its number among those in memory, and where its tile lies in the root's.
  struct Node {
    int number, bit, owner;  ///< which half of its parent it is, and the parent's number
    int x, y;
  };
  QF_HD Node node(int level, int number) const {
    const int deep = t_.choice.depth_first;
    const int bits = level >= deep ? subtree_ << (level - deep) | number : subtree_ >> (deep - level);
    const int own = even_bits(bits), other = even_bits(bits >> 1);
    const bool odd = level % 2 != 0;  // the last halving was by width
    const int w = level == 0 ? t_.choice.width : t_.level[at(level)].tile_width;
    const int h = level == 0 ? t_.choice.height : t_.level[at(level)].tile_height;
    return {number, bits & 1, level > deep ? number >> 1 : 0, (odd ? own : other) * w,
            (odd ? other : own) * h};
  }
  QF_HD static std::size_t at(int level) { return static_cast<std::size_t>(level); }

  /// List i of those that level `level` extended, as `made` by it.
  QF_HD const ListSet& extended(int level) const {
    return level > 0 ? t_.level[at(level)].extended : level == 0 ? t_.columns : t_.rows;
  }
  /// List i of the set that the halving to n's level picked from: what is left of it is where it was.
  QF_HD const Key* left_over(int level, const Node& n, int i) const {
    const ListSet& set = extended(level - 1);
    if (level == 0) return m_ + set.list(0, i);
    const int half = t_.level[at(level)].half;
    return m_ + set.list(n.owner, half * n.bit + i + (i >= half - 1 ? half : 0));
  }
  /// Extra column (row) i of a tile of this extent that begins at `from`, among the root's.
  QF_HD static int root_extra(int i, int from, int extent, int root_extent) {
    return from + i + (i >= extent - 1 ? root_extent - extent : 0);
  }

  QF_HD void halve(int level) {
    const Level& l = t_.level[at(level)];
    const int log_half = l.merges;
    const int picked = t_.level[at(level)].half;
    const ListSet& lists = extended(level - 1);
    auto parent_of = [&](int child) { return node(level - 1, l.children == 1 ? 0 : child >> 1); };
    auto half_of = [&](int child) {
      return l.children == 1 && level <= t_.choice.depth_first ? node(level, 0).bit : child & 1;
    };
    // The first picked list of a child.
    auto first_picked = [&](int child) { return picked * (half_of(child) + 1) - 1; };

    for (int pass = 0; pass < l.merges; ++pass) {
      const int pairs_log = log_half - 1 - pass, length = lists.length << pass;
      const int merge_items = l.merge_chunks[pass] * (l.children << pairs_log);
      const int corner_items = pass == 0 ? l.children * l.extended.count : 0;
      team_.each(merge_items + corner_items, [&](int i) {
        if (i >= merge_items) return sort_corners(l, i - merge_items, parent_of, first_picked);
        const int pair = l.by_merge_chunks[pass](i), first = (i - pair * l.merge_chunks[pass]) * run;
        const int child = pair >> pairs_log, in_child = pair & ((1 << pairs_log) - 1);
        const ListSet& from = pass == 0 ? lists : l.merged[pass - 1];
        const Key* a =
            m_ + (pass == 0 ? from.list(parent_of(child).number, first_picked(child) + 2 * in_child)
                            : from.list(child, 2 * in_child));
        merge_run(a, length, a + from.pitch, length, first, 2 * length - first,
                  m_ + l.merged[pass].list(child, in_child) + first);
      });
    }
    if (l.merges == 0)
      team_.each(l.children * l.extended.count, [&](int i) { sort_corners(l, i, parent_of, first_picked); });

    const ListSet& core = level == 1 ? t_.core : t_.level[at(level - 1)].core;
    team_.each(l.children * l.chunks, [&](int i) {
      const int child = l.by_chunks(i), chunk = i - child * l.chunks;
      const Node parent = parent_of(child);
      if (chunk < l.core_chunks) {
        const Key* added = l.merges == 0 ? m_ + lists.list(parent.number, first_picked(child))
                                         : m_ + l.merged[l.merges - 1].list(child, 0);
        const int first = chunk * run;
        merge_run(m_ + core.list(parent.number, 0), core.length, added, picked * lists.length,
                  l.core_first + first, l.core.length - first, m_ + l.core.list(child, 0) + first);
      } else {
        const int e = l.by_list_chunks(chunk - l.core_chunks);
        const int first = (chunk - l.core_chunks - e * l.list_chunks) * run;
        const Key* list = left_over(level - 1, parent, e);
        const Key* added = m_ + l.corners.list(child, e);
        Key* out = m_ + l.extended.list(child, e) + first;
        const int left = l.extended.length - first;
        if (picked == 1)
          insert_run<1>(list, added, first, left, out);
        else if (picked == 2)
          insert_run<2>(list, added, first, left, out);
        else if (picked == 4)
          insert_run<4>(list, added, first, left, out);
        else
          merge_run(list, l.extended.length - picked, added, picked, first, left, out);
      }
    });
  }

  // Sorts what one extended list grows by.
  template <class Parent, class First>
  QF_HD void sort_corners(const Level& l, int item, const Parent& parent_of, const First& first_of) {
    const int child = l.by_lists(item), e = item - child * l.extended.count;
    const Node parent = parent_of(child);
    const int tw = t_.choice.width, th = t_.choice.height;
    // The parent's tile is twice the half along the halving, and as the child's across it.
    const int first = first_of(child), side = 2 * l.half;
    const int first_extra = root_extra(first, l.by_width ? parent.x : parent.y, side, l.by_width ? tw : th);
    const int line =
        l.by_width ? root_extra(e, parent.y, l.tile_height, th) : root_extra(e, parent.x, l.tile_width, tw);
    const int pitch = t_.corners.length;
    const Key* from =
        m_ + t_.corners.offset + (l.by_width ? line * pitch + first_extra : first_extra * pitch + line);
    const int step = l.by_width ? 1 : pitch;
    Key* out = m_ + l.corners.list(child, e);
    switch (l.half) {
      case 1:
        return sort_few<1>(from, step, out);
      case 2:
        return sort_few<2>(from, step, out);
      case 4:
        return sort_few<4>(from, step, out);
      case 8:
        return sort_few<8>(from, step, out);
      default:
        return sort_few<16>(from, step, out);
    }
  }
  template <int N>
  QF_HD static void sort_few(const Key* from, int step, Key* out) {
    Key v[N];
    QF_UNROLL
    for (int i = 0; i < N; ++i) v[i] = from[i * step];
    apply<SortNetwork<N>>(v);
    QF_UNROLL
    for (int i = 0; i < N; ++i) out[i] = v[i];
    // Fewer are inserted one by one, which needs no end.
    if constexpr (N > max_inserted) {
      QF_UNROLL
      for (int i = N; i < list_pitch(N); ++i) out[i] = std::numeric_limits<Key>::max();
    }
  }

  // --- leaves ----------------------------------------------------------------------------------------------

  // Leaves of 2 x 2 whose cores were halved once more: an output is selected from such a core, the list that
  // its leaf has beside it, and the corner between.
  QF_HD void select_in_pairs() {
    const int level = t_.levels;
    const Level& l = t_.level[at(level + 1)];
    team_.each(t_.leaf_nodes() * 4, [&](int i) {
      const Node n = node(level, i / 4);
      const int half = i / 2 % 2, which = i % 2;  // of the leaf, along the last halving and across it
      const int px = l.by_width ? half : which, py = l.by_width ? which : half;
      const Key corner = m_[t_.corners.offset + root_extra(py, n.y, 2, t_.choice.height) * t_.corners.pitch +
                            root_extra(px, n.x, 2, t_.choice.width)];
      m_[t_.results + (n.y + py) * t_.choice.width + n.x + px] =
          select_rank(m_ + l.core.list(2 * n.number + half, 0), l.core.length, left_over(level, n, which),
                      extended(level - 1).length, corner, t_.rank);
    });
  }

  QF_HD void select() {
    constexpr int outputs = Leaf * Leaf, lists = 2 * Leaf, corners = (Leaf - 1) * (Leaf - 1);
    const int level = t_.levels;
    const Level& l = t_.level[at(level)];
    team_.each(t_.leaf_nodes() * outputs, [&](int i) {
      const Node n = node(level, i / outputs);
      const int px = i % Leaf, py = i / Leaf % Leaf;
      const Key* list[lists];
      int count[lists];
      list[0] = m_ + l.core.list(n.number, 0);
      count[0] = l.core.length;
      // The leaf's columns (rows) px (py) .. + Leaf - 2 are in this output's window.
      QF_UNROLL
      for (int j = 0; j < Leaf - 1; ++j) {
        list[1 + j] = m_ + l.extended.list(n.number, (l.by_width ? py : px) + j);
        count[1 + j] = l.extended.length;
        list[Leaf + j] = left_over(level, n, (l.by_width ? px : py) + j);
        count[Leaf + j] = extended(level - 1).length;
      }
      Key corner[corners];
      QF_UNROLL
      for (int y = 0; y < Leaf - 1; ++y) QF_UNROLL
      for (int x = 0; x < Leaf - 1; ++x)
        corner[y * (Leaf - 1) + x] =
            m_[t_.corners.offset + root_extra(py + y, n.y, Leaf, t_.choice.height) * t_.corners.length +
               root_extra(px + x, n.x, Leaf, t_.choice.width)];
      apply<SortNetwork<corners>>(corner);
      Key* sorted = m_ + t_.leaf_corners.list(n.number, py * Leaf + px);
      QF_UNROLL
      for (int j = 0; j < corners; ++j) sorted[j] = corner[j];
      list[lists - 1] = sorted;
      count[lists - 1] = corners;
      m_[t_.results + (n.y + py) * t_.choice.width + n.x + px] = select_rank(list, count, t_.rank);
    });
  }

  const Tiling& t_;
  Key* m_;
  Team& team_;
  int subtree_ = 0;
};

// Corners, and the root's lists in sorted runs.
template <class Key, int Leaf, class Team>
template <class Sample>
QF_HD void TilingBlock<Key, Leaf, Team>::read(const Sample& sample) {
  const int kw = t_.window.width, kh = t_.window.height, tw = t_.choice.width, th = t_.choice.height;
  const int core_width = kw - tw + 1, core_height = kh - th + 1;
  const int core_runs = runs(t_.whole_core.length), column_runs = runs(t_.columns.length);
  const int row_runs = runs(t_.rows.length);
  const int after_columns = core_runs + column_runs * t_.columns.count;
  const int after_rows = after_columns + row_runs * t_.rows.count;
  team_.each(after_rows + t_.corners.count * t_.corners.length, [&](int i) {
    if (i < core_runs) {
      const int first = i * run;
      int y = t_.by_core_width(first), x = first - y * core_width;
      sort_run(side(t_.whole_core, t_.spare[0], 0) + first, t_.whole_core.length - first, [&](int) {
        const Key key = sample(tw - 1 + x, th - 1 + y);
        if (++x == core_width) x = 0, ++y;
        return key;
      });
    } else if (i < after_columns) {
      const int r = t_.by_columns(i - core_runs), c = i - core_runs - r * t_.columns.count;
      const int x = c < tw - 1 ? c : c - (tw - 1) + kw, first = r * run;
      sort_run(side(t_.columns, t_.spare[1], 0) + c * t_.columns.pitch + first, core_height - first,
               [&](int j) { return sample(x, th - 1 + first + j); });
    } else if (i < after_rows) {
      const int c = t_.by_row_runs(i - after_columns), first = (i - after_columns - c * row_runs) * run;
      const int y = c < th - 1 ? c : c - (th - 1) + kh;
      sort_run(side(t_.rows, t_.spare[2], 0) + c * t_.rows.pitch + first, core_width - first,
               [&](int j) { return sample(tw - 1 + first + j, y); });
    } else {
      const int at = i - after_rows, r = t_.by_corners(at), c = at - r * t_.corners.length;
      m_[t_.corners.offset + at] =
          sample(c < tw - 1 ? c : c - (tw - 1) + kw, r < th - 1 ? r : r - (th - 1) + kh);
    }
  });
}

}  // namespace quietframe::median
