// Works out the plan of the data-aware median: sizes of all lists, and a place in memory for each as long as
// it is needed.
#include "filters/median/tiling.hpp"

#include <algorithm>
#include <vector>

#include "filters/median/sorted_runs.hpp"

namespace quietframe::median {
namespace {

int chunks(int length) { return (length + run - 1) / run; }

ListSet sorted_lists(int length, int count) { return {length, count, list_pitch(length)}; }
ListSet plain_lists(int length, int count) { return {length, count, length}; }

int doublings(int from, int to) {
  int n = 0;
  for (; from < to; from *= 2) ++n;
  return n;
}

/// Memory by first fit: a place is free for steps in which nothing that has it is needed.
class Arena {
 public:
  /// Room for `lists`, needed from step `first` to step `last`.
  void place(ListSet& lists, int nodes, int first, int last) {
    const int size = (nodes * lists.count * lists.pitch + run - 1) / run * run;
    if (size == 0) return;
    int at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Piece& p : pieces_)
        if (p.first <= last && first <= p.last && p.begin < at + size && at < p.end) {
          at = p.end;
          moved = true;
        }
    }
    pieces_.push_back({at, at + size, first, last});
    keys_ = std::max(keys_, at + size);
    lists.offset = at;
  }
  int keys() const { return keys_; }

 private:
  struct Piece {
    int begin, end, first, last;
  };
  std::vector<Piece> pieces_;
  int keys_ = 0;
};

/// How many samples are known to be smaller and larger than all of the core.
struct Known {
  int smaller = 0, larger = 0;

  /// Of `candidates` sorted samples, those that can still be the wanted one: first, and how many.
  std::pair<int, int> crop(const Window& w, int candidates) {
    const int first = std::max(0, candidates + larger - (w.count() - w.rank));
    const int last = std::min(candidates - 1, w.rank - smaller);
    smaller += first;
    larger += candidates - 1 - last;
    return {first, last - first + 1};
  }
};

}  // namespace

bool can_tile(const Window& w, const TilingChoice& c) {
  return c.width <= w.width && c.height <= w.height && c.width > c.leaf && c.height >= c.leaf &&
         (c.width == c.height || c.width == 2 * c.height);
}

Tiling make_tiling(const Window& w, const TilingChoice& choice) {
  Tiling t;
  t.window = w;
  t.choice = choice;
  int width = choice.width, height = choice.height;
  t.levels = doublings(choice.leaf, width) + doublings(choice.leaf, height);
  const bool halve_leaves = choice.leaf == 2;
  // The step that selects; and the levels that other subtrees need again.
  const int end = t.levels + 1 + halve_leaves, deep = choice.depth_first;
  auto last_use = [&](int level, int steps) { return level < deep ? end : std::min(level + steps, end); };
  // What a level extended is picked from in the next step and extended in the one after; the leaves select
  // from what the last two levels extended.
  auto last_use_of_lists = [&](int level) { return level >= t.levels - 1 ? end : last_use(level, 2); };
  Arena arena;

  t.corners = plain_lists(2 * (width - 1), 2 * (height - 1));
  arena.place(t.corners, 1, 0, end);
  ListSet results = plain_lists(width * height, 1);
  arena.place(results, 1, 0, end);
  t.results = results.offset;

  Known known;
  const int core_width = w.width - width + 1, core_height = w.height - height + 1;
  int candidates = core_width * core_height, kept = candidates;
  if (candidates > run) std::tie(t.core_first, kept) = known.crop(w, candidates);
  t.core = sorted_lists(kept, 1);
  t.columns = sorted_lists(core_height, 2 * (width - 1));
  t.rows = sorted_lists(core_width, 2 * (height - 1));
  t.whole_core = sorted_lists(candidates, 1);
  arena.place(t.whole_core, 1, 0, last_use(0, 1));
  t.core.offset = t.whole_core.offset;
  arena.place(t.columns, 1, 0, last_use_of_lists(0));
  arena.place(t.rows, 1, 0, last_use(0, 1));
  t.spare[0] = t.whole_core;
  t.spare[1] = t.columns;
  t.spare[2] = t.rows;
  for (auto& s : t.spare) arena.place(s, 1, 0, 0);

  bool by_width = true;
  for (int n = 1; n < end; ++n, by_width = !by_width) {
    const bool core_alone = n > t.levels;
    Level& l = t.level[static_cast<std::size_t>(n)];
    l.by_width = by_width;
    (by_width ? width : height) /= 2;
    l.tile_width = width;
    l.tile_height = height;
    l.half = by_width ? width : height;
    l.children = n <= deep ? 1 : 1 << (n - deep);
    // Picked lists are as long as the core is across the halving; extended ones as long as it is along it.
    const int across = by_width ? w.height - height + 1 : w.width - width + 1;
    const int along = by_width ? w.width - width + 1 : w.height - height + 1;
    const int added = l.half * across;
    std::tie(l.core_first, kept) = known.crop(w, kept + added);
    l.core = sorted_lists(kept, 1);
    l.extended = sorted_lists(along, core_alone ? 0 : 2 * ((by_width ? height : width) - 1));
    l.corners = l.half > max_inserted ? sorted_lists(l.half, l.extended.count)
                                      : plain_lists(l.half, l.extended.count);
    l.merges = doublings(1, l.half);

    arena.place(l.core, l.children, n, last_use(n, 1));
    arena.place(l.extended, l.children, n, last_use_of_lists(n));
    arena.place(l.corners, l.children, n, n);
    for (int pass = 0; pass < l.merges; ++pass) {
      ListSet& merged = l.merged[pass];
      merged = sorted_lists(across * (2 << pass), l.half >> (pass + 1));
      if (pass < 2)
        arena.place(merged, l.children, n, n);
      else
        merged.offset = l.merged[pass - 2].offset;  // by turns
      l.merge_chunks[pass] = chunks(merged.length);
      l.by_merge_chunks[pass] = Divider(l.merge_chunks[pass]);
    }

    l.core_chunks = chunks(kept);
    l.list_chunks = chunks(along);
    l.chunks = l.core_chunks + l.extended.count * l.list_chunks;
    l.by_chunks = Divider(l.chunks);
    l.by_list_chunks = Divider(l.list_chunks);
    l.by_lists = Divider(std::max(1, l.extended.count));
  }
  if (!halve_leaves) {
    const int leaf = choice.leaf;
    t.leaf_corners = plain_lists((leaf - 1) * (leaf - 1), leaf * leaf);
    arena.place(t.leaf_corners, t.leaf_nodes(), end, end);
  }
  t.rank = w.rank - known.smaller;
  t.keys = arena.keys();
  t.by_core_width = Divider(core_width);
  t.by_column_runs = Divider(chunks(core_height));
  t.by_columns = Divider(std::max(1, t.columns.count));
  t.by_row_runs = Divider(chunks(core_width));
  t.by_corners = Divider(std::max(1, t.corners.length));
  t.by_width = Divider(choice.width);
  return t;
}

}  // namespace quietframe::median
