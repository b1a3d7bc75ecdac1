// Rows of stored samples to levels and back in vectors, by the rules of sample.hpp.
#pragma once
#include "pixel_format.hpp"

namespace quietframe::simd {

/// Levels of the `count` samples at in, in + v.step, ... of a group like `v`.
void load_levels(const GroupView& v, const std::byte* in, int count, float* levels);

/// Stores `count` levels as samples at out, out + v.step, ...
void store_levels(const GroupView& v, const float* levels, int count, std::byte* out);

}  // namespace quietframe::simd
