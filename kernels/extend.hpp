// Neighbourhoods that reach beyond an image, which is continued by replication.
#pragma once
#include <algorithm>

#include "image_view.hpp"

namespace quietframe {

/// Copies columns x0 .. x0 + columns - 1 of rows y0 .. y0 + rows - 1 to `out`, row after row; what lies
/// outside `in` is the nearest sample inside.
inline void copy_extended(const ImageView<const float>& in, int x0, int y0, int columns, int rows,
                          float* out) {
  const int from = std::clamp(-x0, 0, columns), to = std::clamp(in.width - x0, from, columns);
  for (int j = 0; j < rows; ++j, out += columns) {
    const float* row = in.row(std::clamp(y0 + j, 0, in.height - 1));
    std::fill(out, out + from, row[0]);
    std::copy(row + x0 + from, row + x0 + to, out + from);
    std::fill(out + to, out + columns, row[in.width - 1]);
  }
}

}  // namespace quietframe
