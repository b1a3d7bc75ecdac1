// Sorted lists in memory, and what one thread does to them: sort or merge a run of eight samples, find a rank
// in many lists. Written for both compilers: the CPU runs it in tests.
//
// A list begins at a multiple of 16 bytes and ends with eight or more samples of the largest value, so that a
// run may be read from any place up to its end.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>

#include "filters/median/register_sort.hpp"

namespace quietframe::median {

inline constexpr int run = 8;  ///< samples that a thread sorts or merges at once

inline constexpr int max_inserted =
    4;  ///< so many samples are inserted into a list rather than merged with it

/// Room for a list of `length` samples with its end.
QF_HD constexpr int list_pitch(int length) { return (length + run - 1) / run * run + run; }

#ifdef __CUDA_ARCH__
// In shared memory; said in assembly, because the compiler takes such stores apart where a value has two
// sources.
__device__ inline void store_four(void* out, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                  std::uint32_t d) {
  asm volatile(
      "st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(out))),
      "r"(a), "r"(b), "r"(c), "r"(d)
      : "memory");
}
#endif

/// A run in registers.
template <class Key>
struct Run {
  Key v[run];

  /// The smallest of list a from place i on and list b from place j on, in rising and falling order: the
  /// lower half of a bitonic merge.
  QF_HD static Run lowest(const Key* a, int i, const Key* b, int j) {
    Run r;
    QF_UNROLL
    for (int t = 0; t < run; ++t) {
      const Key x = a[i + t], y = b[j + run - 1 - t];
      r.v[t] = x < y ? x : y;
    }
    return r;
  }
  QF_HD void sort_bitonic() { apply<BitonicNetwork<run>>(v); }
  /// The samples from place `at`, a multiple of `run`, on of list a with the N of `added` merged: with j of
  /// these, the largest of a[t - j] and added[j - 1] is a candidate for place t, and the least of them it is.
  template <int N>
  QF_HD static Run inserted(const Key* a, int at, const Key* added) {
    Key x[N + run];
    QF_UNROLL
    for (int t = 0; t < N; ++t) x[t] = at > 0 ? a[at - N + t] : 0;
    load(a + at, x + N);
    Run r;
    QF_UNROLL
    for (int t = 0; t < run; ++t) r.v[t] = x[N + t];
    QF_UNROLL
    for (int j = 1; j <= N; ++j) {
      const Key y = added[j - 1];
      QF_UNROLL
      for (int t = 0; t < run; ++t) {
        const Key z = x[N + t - j] > y ? x[N + t - j] : y;
        r.v[t] = r.v[t] < z ? r.v[t] : z;
      }
    }
    return r;
  }
  /// Replaces all but the first `count` by the largest value.
  QF_HD void end_at(int count) {
    QF_UNROLL
    for (int t = 0; t < run; ++t)
      if (t >= count) v[t] = std::numeric_limits<Key>::max();
  }
  QF_HD static Run ends() {
    Run r;
    r.end_at(0);
    return r;
  }
  QF_HD void store(Key* out) const {
#ifdef __CUDA_ARCH__
    QF_UNROLL
    for (int t = 0; t < run; t += 4) store_four(out + t, v[t], v[t + 1], v[t + 2], v[t + 3]);
#else
    std::memcpy(out, v, sizeof v);
#endif
  }

 private:
  QF_HD static void load(const Key* from, Key* to) {
#ifdef __CUDA_ARCH__
    QF_UNROLL
    for (int t = 0; t < run; t += 4) {
      const uint4 four = reinterpret_cast<const uint4*>(from)[t / 4];
      to[t] = four.x, to[t + 1] = four.y, to[t + 2] = four.z, to[t + 3] = four.w;
    }
#else
    std::memcpy(to, from, run * sizeof(Key));
#endif
  }
};

/// Two 16-bit samples a word, the first in the lower half: min.u16x2 and max.u16x2 take both at once.
template <>
struct Run<std::uint16_t> {
  static constexpr int words = run / 2;
  std::uint32_t w[words];

  QF_HD static Run of(const std::uint16_t (&v)[run]) {
    Run r;
    QF_UNROLL
    for (int t = 0; t < words; ++t) r.w[t] = std::uint32_t{v[2 * t]} | std::uint32_t{v[2 * t + 1]} << 16;
    return r;
  }
  QF_HD static Run lowest(const std::uint16_t* a, int i, const std::uint16_t* b, int j) {
    std::uint32_t x[words + 1], y[words + 1];
    load(a, i, x);
    load(b, j, y);
    // Bytes of two neighbouring words: the samples from an even place on, or from an odd one; b's backwards.
    const int forward = i % 2 ? 0x5432 : 0x3210, backward = j % 2 ? 0x3254 : 0x1032;
    Run r;
    QF_UNROLL
    for (int t = 0; t < words; ++t)
      r.w[t] = min2(permute(x[t], x[t + 1], forward), permute(y[words - 1 - t], y[words - t], backward));
    return r;
  }
  QF_HD void sort_bitonic() {
    apply_words<words / 2>();
    QF_UNROLL
    for (int t = 0; t < words; t += 2) {
      std::uint32_t first = permute(w[t], w[t + 1], 0x5410), second = permute(w[t], w[t + 1], 0x7632);
      exchange(first, second);
      w[t] = permute(first, second, 0x5410);
      w[t + 1] = permute(first, second, 0x7632);
    }
  }
  template <int N>
  QF_HD static Run inserted(const std::uint16_t* a, int at, const std::uint16_t* added) {
    static_assert(N == 1 || N == 2 || N == 4);
    constexpr int before = (N + 1) / 2;
    // Samples at - 2 * before ..., and the same one sample further back.
    std::uint32_t x[before + words], y[before + words];
    QF_UNROLL
    for (int t = 0; t < before; ++t) x[t] = at > 0 ? word(a + at + 2 * (t - before)) : 0;
#ifdef __CUDA_ARCH__
    QF_UNROLL
    for (int t = 0; t < words; t += 4) {
      const uint4 four = reinterpret_cast<const uint4*>(a + at)[t / 4];
      x[before + t] = four.x, x[before + t + 1] = four.y, x[before + t + 2] = four.z,
                 x[before + t + 3] = four.w;
    }
#else
    std::memcpy(x + before, a + at, words * sizeof *x);
#endif
    QF_UNROLL
    for (int t = 1; t < before + words; ++t) y[t] = permute(x[t - 1], x[t], 0x5432);
    Run r;
    QF_UNROLL
    for (int t = 0; t < words; ++t) r.w[t] = x[before + t];
    QF_UNROLL
    for (int j = 1; j <= N; ++j) {
      const std::uint32_t both = added[j - 1] * 0x10001U;
      QF_UNROLL
      for (int t = 0; t < words; ++t)
        r.w[t] = min2(r.w[t], max2(j % 2 ? y[before + t - j / 2] : x[before + t - j / 2], both));
    }
    return r;
  }
  QF_HD void end_at(int count) {
    QF_UNROLL
    for (int t = 0; t < words; ++t)
      w[t] |= count <= 2 * t ? ~std::uint32_t{0} : count == 2 * t + 1 ? 0xffff0000U : 0;
  }
  QF_HD static Run ends() {
    Run r;
    QF_UNROLL
    for (int t = 0; t < words; ++t) r.w[t] = ~std::uint32_t{0};
    return r;
  }
  QF_HD void store(std::uint16_t* out) const {
#ifdef __CUDA_ARCH__
    QF_UNROLL
    for (int t = 0; t < words; t += 4) store_four(out + 2 * t, w[t], w[t + 1], w[t + 2], w[t + 3]);
#else
    std::memcpy(out, w, sizeof w);
#endif
  }

 private:
  // The words from the one that has sample i on; the last only where it is needed.
  QF_HD static void load(const std::uint16_t* list, int i, std::uint32_t (&x)[words + 1]) {
    const std::uint16_t* from = list + (i & ~1);
    QF_UNROLL
    for (int t = 0; t < words; ++t) x[t] = word(from + 2 * t);
    x[words] = i % 2 ? word(from + 2 * words) : 0;
  }
  QF_HD static std::uint32_t word(const std::uint16_t* p) {
#ifdef __CUDA_ARCH__
    return *reinterpret_cast<const std::uint32_t*>(p);
#else
    std::uint32_t v;
    std::memcpy(&v, p, sizeof v);
    return v;
#endif
  }
  QF_HD static std::uint32_t permute(std::uint32_t a, std::uint32_t b, int order) {
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, static_cast<unsigned>(order));
#else
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    std::uint32_t v = 0;
    for (int t = 0; t < 4; ++t)
      v |= static_cast<std::uint32_t>(bytes >> (order >> 4 * t & 7) * 8 & 0xff) << 8 * t;
    return v;
#endif
  }
  QF_HD static std::uint32_t min2(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
    return __vminu2(a, b);
#else
    const std::uint32_t al = a & 0xffff, bl = b & 0xffff;
    return (al < bl ? al : bl) | ((a >> 16 < b >> 16 ? a : b) & 0xffff0000U);
#endif
  }
  QF_HD static std::uint32_t max2(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
    return __vmaxu2(a, b);
#else
    return ~min2(~a, ~b);
#endif
  }
  /// The steps of a bitonic sort between words that are Apart and less apart.
  template <int Apart>
  QF_HD void apply_words() {
    QF_UNROLL
    for (int t = 0; t < words; ++t)
      if ((t & Apart) == 0) exchange(w[t], w[t + Apart]);
    if constexpr (Apart > 1) apply_words<Apart / 2>();
  }
  QF_HD static void exchange(std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t a = low, b = high;
    low = min2(a, b);
    high = max2(a, b);
  }
};
template <class Key>
QF_HD inline Run<Key> run_of(const Key (&v)[run]) {
  if constexpr (sizeof(Key) == 2) {
    return Run<Key>::of(v);
  } else {
    Run<Key> r;
    QF_UNROLL
    for (int t = 0; t < run; ++t) r.v[t] = v[t];
    return r;
  }
}

/// Stores a run of which the list still needs `left` samples; where that is all, its end too.
template <class Key>
QF_HD inline void store_run(Run<Key> r, int left, Key* out) {
  if (left <= run) {
    r.end_at(left);
    Run<Key>::ends().store(out + run);
  }
  r.store(out);
}

/// How many of the `rank` smallest samples of two sorted lists are a's.
template <class Key>
QF_HD inline int split_rank(const Key* a, int na, const Key* b, int nb, int rank) {
  int low = rank > nb ? rank - nb : 0, high = rank < na ? rank : na;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[rank - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Writes the run that begins with sample `first` of two lists merged. The output still needs `left` samples.
template <class Key>
QF_HD inline void merge_run(const Key* a, int na, const Key* b, int nb, int first, int left, Key* out) {
  const int from_a = split_rank(a, na, b, nb, first);
  auto r = Run<Key>::lowest(a, from_a, b, first - from_a);
  r.sort_bitonic();
  store_run(r, left, out);
}

/// The same where b has N samples, few, and `first` is a multiple of `run`.
template <int N, class Key>
QF_HD inline void insert_run(const Key* a, const Key* b, int first, int left, Key* out) {
  store_run(Run<Key>::template inserted<N>(a, first, b), left, out);
}

/// The sample of rank `rank` in two lists and a single sample.
template <class Key>
QF_HD inline Key select_rank(const Key* a, int na, const Key* b, int nb, Key single, int rank) {
  const int i = split_rank(a, na, b, nb, rank), j = rank - i;
  auto larger = [](Key x, Key y) { return x > y ? x : y; };
  auto smaller = [](Key x, Key y) { return x < y ? x : y; };
  const Key below = larger(i > 0 ? a[i - 1] : Key{0}, j > 0 ? b[j - 1] : Key{0});
  return larger(below, smaller(single, smaller(a[i], b[j])));
}

/// The same for two parts of a list: what is behind them is no end.
template <class Key>
QF_HD inline void merge_parts(const Key* a, int na, const Key* b, int nb, int first, int left, Key* out) {
  const int from_a = split_rank(a, na, b, nb, first), from_b = first - from_a;
  Key v[run];
  QF_UNROLL
  for (int t = 0; t < run; ++t) {
    const Key top = std::numeric_limits<Key>::max();
    const Key x = from_a + t < na ? a[from_a + t] : top;
    const Key y = from_b + run - 1 - t < nb ? b[from_b + run - 1 - t] : top;
    v[t] = x < y ? x : y;
  }
  apply<BitonicNetwork<run>>(v);
  store_run(run_of(v), left, out);
}

/// The sample of rank `rank` (from 0) in N sorted lists: the middle of the longest interval that is still
/// possible is placed in all lists, which narrows all of them. Of equal samples those of earlier lists come
/// first.
template <class Key, int N>
QF_HD inline Key select_rank(const Key* const (&list)[N], int (&high)[N], int rank) {
  int low[N] = {};
  for (;;) {
    int source = 0, middle = 0, width = 0;
    Key pivot = 0;
    QF_UNROLL
    for (int i = 0; i < N; ++i)
      if (high[i] - low[i] > width) {
        width = high[i] - low[i];
        source = i;
      }
    QF_UNROLL
    for (int i = 0; i < N; ++i)
      if (i == source) {
        middle = (low[i] + high[i]) / 2;
        pivot = list[i][middle];
      }
    int from[N], to[N];
    QF_UNROLL
    for (int i = 0; i < N; ++i) {
      from[i] = i == source ? middle : low[i];
      to[i] = i == source ? middle : high[i];
    }
    // One step in every list at a time: their loads do not wait for each other.
    for (bool more = true; more;) {
      more = false;
      QF_UNROLL
      for (int i = 0; i < N; ++i)
        if (from[i] < to[i]) {
          const int m = (from[i] + to[i]) / 2;
          const Key v = list[i][m];
          if (v < pivot || (v == pivot && i < source))
            from[i] = m + 1;
          else
            to[i] = m;
          more = true;
        }
    }
    int before = 0;
    QF_UNROLL
    for (int i = 0; i < N; ++i) before += from[i];
    if (before == rank) return pivot;
    QF_UNROLL
    for (int i = 0; i < N; ++i)
      if (before < rank)
        low[i] = from[i] + (i == source);
      else
        high[i] = from[i];
  }
}

}  // namespace quietframe::median
