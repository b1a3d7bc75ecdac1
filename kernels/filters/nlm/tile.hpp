// One tile of non-local means in vectors: what the kernel for each instruction set is given.
#pragma once
#include <array>
#include <cstddef>

#include "filters/nlm/params.hpp"

namespace quietframe::nlm {

// A tile's totals, its box sums and the two frames' samples stay in a level-2 cache, most of them in level 1.
inline constexpr int tile_columns = 128;  ///< columns of box sums; 2 patch_radius fewer pixels come out
inline constexpr int tile_rows = 16;
inline constexpr int tile_pitch = tile_columns + 16;  ///< floats from row to row of totals and box sums
inline constexpr int pairs = 2;                       ///< displacements done at a time

struct Weighting {
  float scale;       ///< log2(e) / (samples of a patch * h^2)
  float subtracted;  ///< log2(e) * 2 sigma^2 / h^2
};

struct Tile {
  int channels, patch, search;
  int width, height;                               ///< pixels that come out
  std::ptrdiff_t pitch;                            ///< floats from row to row of `here` and `there`
  std::array<const float*, max_channels> here{};   ///< pixel (0, 0) of the current frame; search + patch
                                                   ///< samples are readable all round
  std::array<const float*, max_channels> there{};  ///< the same of the frame that is searched
  std::array<float*, pairs> box{};
  float *weight = nullptr, *largest = nullptr;
  std::array<float*, max_channels> sum{};
};

struct Plan {
  bool direct;      ///< patch loop instead of box sums
  bool track_best;  ///< keep the largest weight
  bool current;     ///< `there` is `here`: leave the displacement (0, 0) out
  Weighting weighting;
};

}  // namespace quietframe::nlm
