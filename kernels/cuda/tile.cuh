// Brings a tile of an image and its halo into shared memory as floats, borders replicated.
#pragma once
#include "cuda/pixel.cuh"

namespace quietframe::cuda {

/// Where a tile stands in the image, and how it is laid out in shared memory: pixel (x0 + i, y0 + j) of
/// channel c goes to data[c * plane + j * pitch + i].
struct Tile {
  float* data;
  int x0, y0;  ///< any, also outside the image
  int cols, rows;
  int pitch;  ///< floats; a multiple of 4
  int plane;  ///< floats; a multiple of 4
};

/// All threads of a block fill `tile` with scale * level. The caller synchronises.
template <class P>
__device__ void load_tile(const PixelView& view, const Tile& tile, float scale, int thread, int threads) {
  const int first = tile.x0 & ~3;  // runs begin on multiples of 4
  const int runs = (tile.x0 + tile.cols - first + 3) / 4;
#pragma unroll 2
  for (int item = thread; item < runs * tile.rows; item += threads) {
    const int j = item / runs, x = first + 4 * (item - j * runs), i = x - tile.x0;
    float level[P::channels][4];
    P::template load<4>(view, x, tile.y0 + j, level);
#pragma unroll
    for (int c = 0; c < P::channels; ++c) {
      float* row = tile.data + c * tile.plane + j * tile.pitch;
      if (i % 4 == 0 && i + 4 <= tile.cols) {
        *reinterpret_cast<float4*>(row + i) =
            make_float4(scale * level[c][0], scale * level[c][1], scale * level[c][2], scale * level[c][3]);
      } else {
#pragma unroll
        for (int t = 0; t < 4; ++t)
          if (i + t >= 0 && i + t < tile.cols) row[i + t] = scale * level[c][t];
      }
    }
  }
}

}  // namespace quietframe::cuda
