// Loads and stores of whole words from global memory, as wide as the address allows.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace quietframe::cuda::detail {

template <int Words>
__device__ inline void load_words(const std::byte* p, int align, std::uint32_t (&w)[Words]) {
  constexpr int piece = Words % 4 == 0 ? 4 : Words % 2 == 0 ? 2 : 1;
  if (piece == 4 && align >= 16) {
#pragma unroll
    for (int i = 0; i + 3 < Words; i += 4) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(p) + i / 4);
      w[i] = v.x, w[i + 1] = v.y, w[i + 2] = v.z, w[i + 3] = v.w;
    }
  } else if (piece >= 2 && align >= 8) {
#pragma unroll
    for (int i = 0; i + 1 < Words; i += 2) {
      const uint2 v = __ldg(reinterpret_cast<const uint2*>(p) + i / 2);
      w[i] = v.x, w[i + 1] = v.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < Words; ++i) w[i] = __ldg(reinterpret_cast<const unsigned*>(p) + i);
  }
}

template <int Words>
__device__ inline void store_words(std::byte* p, int align, const std::uint32_t (&w)[Words]) {
  constexpr int piece = Words % 4 == 0 ? 4 : Words % 2 == 0 ? 2 : 1;
  if (piece == 4 && align >= 16) {
#pragma unroll
    for (int i = 0; i + 3 < Words; i += 4)
      reinterpret_cast<uint4*>(p)[i / 4] = make_uint4(w[i], w[i + 1], w[i + 2], w[i + 3]);
  } else if (piece >= 2 && align >= 8) {
#pragma unroll
    for (int i = 0; i + 1 < Words; i += 2) reinterpret_cast<uint2*>(p)[i / 2] = make_uint2(w[i], w[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < Words; ++i) reinterpret_cast<unsigned*>(p)[i] = w[i];
  }
}

}  // namespace quietframe::cuda::detail
