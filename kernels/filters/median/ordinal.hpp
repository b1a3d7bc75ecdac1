// A tile of floats as 16-bit numbers in the same order, so that counting methods can find their ranks.
#pragma once
#include <algorithm>

#include "filters/median/tile.hpp"

namespace quietframe::median {

/// Largest number of samples of a tile with its halo; they have so many values at most.
inline constexpr std::size_t ordinal_samples = static_cast<std::size_t>(sliding_columns + 2 * max_halo) *
                                               static_cast<std::size_t>(sliding_rows + 2 * max_halo);
static_assert(ordinal_samples <= 65536);

/// Replaces each of the `count` keys by its place among the distinct keys; sorted[place] gives it back.
/// `pairs` is room for `count` numbers.
inline void to_ordinals(const std::int32_t* keys, std::size_t count, std::uint64_t* pairs,
                        std::int32_t* sorted, std::uint16_t* places) {
  for (std::size_t i = 0; i < count; ++i)
    pairs[i] = std::uint64_t{static_cast<std::uint32_t>(keys[i]) ^ 0x80000000U} << 32 | i;
  std::sort(pairs, pairs + count);
  std::size_t place = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint32_t i = static_cast<std::uint32_t>(pairs[n]);
    if (n > 0 && keys[i] != sorted[place]) ++place;
    sorted[place] = keys[i];
    places[i] = static_cast<std::uint16_t>(place);
  }
}

}  // namespace quietframe::median
