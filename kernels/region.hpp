// Where a frame is filtered: rectangles and a mask, in pixels of the frame.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace quietframe {

/// Pixels x..x+width-1 of rows y..y+height-1; what lies outside of the frame does not matter.
struct Rect {
  std::int32_t x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Rect&) const = default;
};

inline constexpr int max_rects = 32;

/// The union of `count` rectangles, or the whole frame where it is not limited. Limited to none, nothing is
/// filtered.
struct Region {
  bool limited = false;
  int count = 0;  ///< 0..max_rects
  std::array<Rect, max_rects> rects{};
  bool operator==(const Region&) const = default;
};

/// One byte a pixel, rows close together: 0 passes, all else filters.
struct Mask {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

}  // namespace quietframe
