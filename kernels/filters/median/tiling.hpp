// The plan of the data-aware median: which tiles a block halves, and where in its memory the sorted lists
// lie.
//
// The algorithm is hierarchical tiling (Sugy 2025). Every window of a tile of outputs contains the tile's
// core. Sorted, the core needs only those of its samples that can still be the wanted rank. A tile is halved,
// its core grows by the columns (rows) that all windows of the half contain, and the rows (columns) that only
// some of them contain grow with it. What a node of this tree keeps depends on sizes alone, never on samples:
// one plan serves every block.
//
// Near the root a block works on one node after another, depth first, so that lists of few nodes are alive;
// below it takes all nodes of a subtree in one step. Leaves are small tiles whose outputs are selected from
// the lists around them.
#pragma once
#include <array>
#include <cstdint>

#include "filters/median/params.hpp"

namespace quietframe::median {

/// Division of numbers below 65536 by a constant below 65536, exact.
struct Divider {
  std::uint32_t factor = 0, divisor = 1;

  Divider() = default;
  explicit Divider(int d)
      : factor(d > 1 ? 0xffffffffU / static_cast<std::uint32_t>(d) + 1 : 0),
        divisor(static_cast<std::uint32_t>(d)) {}
  QF_HD int operator()(int n) const {
    const auto product = std::uint64_t{static_cast<std::uint32_t>(n)} * factor;
    return factor ? static_cast<int>(product >> 32) : n;
  }
};

/// Lists of the nodes of a level: list i of node n begins at key offset + (n * count + i) * pitch.
struct ListSet {
  int length = 0, count = 0, pitch = 0, offset = 0;
  QF_HD int list(int node, int i) const { return offset + (node * count + i) * pitch; }
};

/// One halving: of the tile's width or of its height, in turn. `Picked` are the columns (rows) that join the
/// core, `extended` the rows (columns) that grow by the samples where both cross.
struct Level {
  static constexpr int max_merges = 4;

  int tile_width = 0, tile_height = 0;
  bool by_width = false;  ///< the halving that leads here
  int half = 0;           ///< lists that join the core: the tile's extent along the halving
  int children = 0;       ///< made in one step
  ListSet core;           ///< count 1
  int core_first = 0;     ///< rank of its first sample among those merged
  ListSet extended;
  ListSet corners;                       ///< scratch: what `extended` grows by, sorted
  ListSet merged[max_merges];            ///< scratch: picked lists on their way to one, pass by pass
  int merges = 0;                        ///< passes of pairwise merging that make one list of the picked ones
  int core_chunks = 0, list_chunks = 0;  ///< work items of a child's core, and of one extended list
  int chunks = 0;                        ///< and of all its lists
  int merge_chunks[max_merges] = {};     ///< of a pair, by pass
  Divider by_chunks, by_list_chunks, by_lists, by_merge_chunks[max_merges];
};

/// What to vary when tuning. Tiles are powers of two, as wide as high or twice as wide.
struct TilingChoice {
  int width, height;  ///< of the root
  int leaf;           ///< side of the last tile with sorted lists all round, 2 or 4
  int depth_first;    ///< levels that are worked on node by node
  int threads;
};

struct Tiling {
  static constexpr int max_levels = 9;

  Window window{};
  TilingChoice choice{};
  int levels = 0;      ///< halvings from the root to the leaves
  ListSet corners;     ///< samples that lie in extra columns and extra rows, by row; not sorted
  int results = 0;     ///< offset of width x height outputs
  ListSet whole_core;  ///< of the root, while it is sorted
  ListSet core;        ///< what it needs of it
  int core_first = 0;
  ListSet columns, rows;  ///< extra ones of the root
  ListSet spare[3];       ///< of core, columns, rows: the other side while they are sorted
  std::array<Level, max_levels + 1> level{};  ///< from 1
  ListSet leaf_corners;                       ///< one list an output of a leaf step
  int rank = 0;                               ///< wanted, among the samples a leaf still has
  int keys = 0;                               ///< of memory
  Divider by_core_width, by_columns, by_column_runs, by_row_runs, by_corners, by_width;

  QF_HD int leaf_nodes() const { return 1 << (levels - choice.depth_first); }
  QF_HD int subtrees() const { return 1 << choice.depth_first; }
};

/// Whether tiles of `choice` can be halved that way under `window`.
bool can_tile(const Window& window, const TilingChoice& choice);
Tiling make_tiling(const Window& window, const TilingChoice& choice);

}  // namespace quietframe::median
