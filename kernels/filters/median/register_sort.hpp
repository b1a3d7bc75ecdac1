// Sorting networks on arrays in registers, for both compilers.
#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include "image_view.hpp"

// Register arrays are indexed by constants in the device's code.
#ifdef __CUDA_ARCH__
#define QF_UNROLL _Pragma("unroll")
#else
#define QF_UNROLL
#endif

namespace quietframe::median {

struct Exchange {
  int low, high;
};

/// Batcher's merge exchange, for any N.
template <int N>
struct SortNetwork {
  static constexpr int count(Exchange* to) {
    int n = 0;
    for (int p = 1; p < N; p *= 2)
      for (int k = p; k >= 1; k /= 2)
        for (int j = k % p; j < N - k; j += 2 * k)
          for (int i = 0; i < k && i + j + k < N; ++i)
            if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) {
              if (to) to[n] = {i + j, i + j + k};
              ++n;
            }
    return n;
  }
};
/// Sorts a sequence that rises and falls; N is a power of two.
template <int N>
struct BitonicNetwork {
  static constexpr int count(Exchange* to) {
    int n = 0;
    for (int k = N / 2; k >= 1; k /= 2)
      for (int i = 0; i < N; ++i)
        if ((i & k) == 0) {
          if (to) to[n] = {i, i + k};
          ++n;
        }
    return n;
  }
};

template <class Network, class Key, int N>
QF_HD inline void apply(Key (&v)[N]) {
  constexpr int count = Network::count(nullptr);
  constexpr auto list = [] {
    std::array<Exchange, static_cast<std::size_t>(count > 0 ? count : 1)> a{};
    Network::count(a.data());
    return a;
  }();
  auto exchange = [&](Key& low, Key& high) {
    const Key a = low, b = high;
    low = a < b ? a : b;
    high = a < b ? b : a;
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (exchange(v[list[I].low], v[list[I].high]), ...); }
  (std::make_index_sequence<static_cast<std::size_t>(count)>());
}

}  // namespace quietframe::median
