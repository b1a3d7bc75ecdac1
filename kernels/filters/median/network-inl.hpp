// Medians of small square windows by selection networks: one vector of pixels at a time, windows in
// registers.
#include <array>
#include <utility>

#include <hwy/highway.h>

#include "filters/median/tile.hpp"

#if defined(QUIETFRAME_MEDIAN_NETWORK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUIETFRAME_MEDIAN_NETWORK_INL
#undef QUIETFRAME_MEDIAN_NETWORK_INL
#else
#define QUIETFRAME_MEDIAN_NETWORK_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quietframe::median {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Comparator {
  std::uint8_t a, b;
  bool keep_low, keep_high;
};

// Batcher's merge exchange (Knuth 5.2.2, algorithm M) for N values, without what the median does not depend
// on.
template <int N>
struct Selection {
  static constexpr int limit = N * 12;
  std::array<Comparator, limit> comparators{};
  int count = 0;

  constexpr Selection() {
    int top = 1;
    while (top * 2 < N) top *= 2;
    for (int p = top; p > 0; p /= 2)
      for (int q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int i = 0; i < N - d; ++i)
          if ((i & p) == r)
            comparators[count++] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i + d), false,
                                    false};
        if (q == p) break;
      }
    prune();
  }

 private:
  constexpr void prune() {
    std::array<bool, N> live{};
    live[N / 2] = true;
    for (int i = count - 1; i >= 0; --i) {
      auto& c = comparators[i];
      c.keep_low = live[c.a];
      c.keep_high = live[c.b];
      if (c.keep_low || c.keep_high) live[c.a] = live[c.b] = true;
    }
  }
};

template <int N>
inline constexpr Selection<N> selection{};

template <int N, int I, class V>
HWY_INLINE void exchange(V* v) {
  constexpr Comparator c = selection<N>.comparators[I];
  const V a = v[c.a], b = v[c.b];
  if constexpr (c.keep_low) v[c.a] = hn::Min(a, b);
  if constexpr (c.keep_high) v[c.b] = hn::Max(a, b);
}

template <int N, int Begin, class V, int... I>
HWY_INLINE void exchange_some(V* v, std::integer_sequence<int, I...>) {
  (exchange<N, Begin + I>(v), ...);
}

// In halves: clang refuses a fold of more than 256 (its -fbracket-depth), and 7 x 7 takes 383 exchanges.
template <int N, int Begin, int End, class V>
HWY_INLINE void exchange_all(V* v) {
  if constexpr (End - Begin <= 128) {
    exchange_some<N, Begin>(v, std::make_integer_sequence<int, End - Begin>());
  } else {
    constexpr int middle = (Begin + End) / 2;
    exchange_all<N, Begin, middle>(v);
    exchange_all<N, middle, End>(v);
  }
}

template <int K, class T>
HWY_NOINLINE void network_rows_of(const Tile<T>& t) {
  constexpr int count = K * K;
  const hn::ScalableTag<T> d;
  for (int y = 0; y < t.height; ++y)
    for (int x = 0; x < t.width; x += static_cast<int>(hn::Lanes(d))) {
      hn::Vec<decltype(d)> v[count];
      for (int j = 0; j < K; ++j)
        for (int i = 0; i < K; ++i) v[j * K + i] = hn::LoadU(d, t.in + (y + j) * t.in_pitch + x + i);
      exchange_all<count, 0, selection<count>.count>(v);
      hn::StoreU(v[count / 2], d, t.out + y * t.out_pitch + x);
    }
}

// The window is a square of 3, 5 or 7 pixels, and the rank its median.
template <class T>
void network(const Tile<T>& t) {
  if (t.window.width == 3) network_rows_of<3>(t);
  if (t.window.width == 5) network_rows_of<5>(t);
  if (t.window.width == 7) network_rows_of<7>(t);
}

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::median
HWY_AFTER_NAMESPACE();

#endif
