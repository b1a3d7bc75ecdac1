// One tile of the median filter in the integers it is computed in: what the kernels are given.
#pragma once
#include <cstddef>
#include <cstdint>

#include "filters/median/params.hpp"

namespace quietframe::median {

/// Samples are u8 or u16 codes, or the int32 order keys of floats.
template <class T>
struct Tile {
  Window window;
  int width, height;        ///< pixels that come out
  const T* in;              ///< first sample of the window of pixel (0, 0); halo included all round
  std::ptrdiff_t in_pitch;  ///< samples from row to row
  T* out;
  std::ptrdiff_t out_pitch;
};

inline constexpr int network_columns = 256, network_rows = 32;
// Tall, because the first row of a tile costs as much as a window's height of rows.
inline constexpr int histogram_columns = 256, histogram_rows = 128;
inline constexpr int sliding_columns = 128, sliding_rows = 64;
/// Samples of the largest halo on one side, and room to read whole vectors beyond a row.
inline constexpr int max_halo = max_window / 2, slack = 64;

}  // namespace quietframe::median
