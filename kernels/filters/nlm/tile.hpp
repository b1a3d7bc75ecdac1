// One tile of non-local means in vectors: what the kernel for each instruction set is given.
#pragma once
#include <array>
#include <cstddef>

#include "filters/nlm/params.hpp"

namespace quietframe::nlm {

// What a tile needs stays in a level-2 cache. A pair of pixels is weighed once for both of them, so pixels up
// to the search radius outside the tile are weighed as well: small tiles cost more.
inline constexpr int tile_columns = 240;  ///< pixels that come out
inline constexpr int tile_rows = 32;
inline constexpr int tile_lead =
    16;  ///< floats before pixel 0 in a row of totals and box sums: a search radius
inline constexpr int tile_pitch = tile_lead + tile_columns + 48;  ///< floats from row to row of these
inline constexpr int pairs = 2;                                   ///< displacements done at a time

struct Weighting {
  float scale;       ///< log2(e) / (samples of a patch * h^2)
  float subtracted;  ///< 2 sigma^2 * samples of a patch
};

/// Totals over what one pixel has been compared with. Both point to pixel (0, 0).
struct Totals {
  float* weight = nullptr;
  std::array<float*, max_channels> sum{};
};

struct Tile {
  int channels, patch, search;
  int width, height;                               ///< pixels that come out
  std::ptrdiff_t pitch;                            ///< floats from row to row of `here` and `there`
  std::array<const float*, max_channels> here{};   ///< pixel (0, 0) of the current frame; search + patch rows
                                                   ///< and as many columns and more are readable all round
  std::array<const float*, max_channels> there{};  ///< the same of the frame that is searched
  std::array<float*, pairs> box{};                 ///< pixel (0, 0), column 0 being that of the patch's first
  /// Of pairs that a pixel begins, and of those that it ends. Kept apart, a pixel's are added in the same
  /// order wherever it lies in its tile.
  Totals begun, ended;
  float* largest = nullptr;
};

struct Plan {
  bool direct;      ///< patch loop instead of box sums
  bool track_best;  ///< keep the largest weight
  bool current;     ///< `there` is `here`: weigh each pair of pixels once, and none with itself
  Weighting weighting;
};

}  // namespace quietframe::nlm
