// Tiles of four samples' width for the kernels that work by min and max: packing, loading and storing of
// words.
#pragma once
#include "filters/median/samples.cuh"

namespace quietframe::median {

/// Two tiles in one word: unsigned 16-bit samples, the second tile Apart rows below the first. Bytes stand in
/// the upper half of their 16 bits, and what a container holds below its value rides along: neither changes
/// an order of values.
template <int Apart>
struct Packed16 {
  using Word = std::uint32_t;
  static constexpr int tiles = 2, apart = Apart;
  static __device__ Word min(Word a, Word b) { return __vminu2(a, b); }
  static __device__ Word max(Word a, Word b) { return __vmaxu2(a, b); }

  /// Four samples of a row.
  using Four = uint2;
  static __device__ Word pack(const Four* rows, int column, int y) {
    const Four a = rows[y], b = rows[y + Apart];
    return column < 2 ? __byte_perm(a.x, b.x, column % 2 ? 0x7632 : 0x5410)
                      : __byte_perm(a.y, b.y, column % 2 ? 0x7632 : 0x5410);
  }
  template <SampleType S>
  static __device__ Four load(const std::byte* p) {
    if constexpr (S == SampleType::u8) {
      const auto w = *reinterpret_cast<const std::uint32_t*>(p);
      return make_uint2(__byte_perm(w, 0, 0x1404), __byte_perm(w, 0, 0x3424));
    } else {
      const auto w = *reinterpret_cast<const uint2*>(p);
      constexpr int order = S == SampleType::u16_be ? 0x2301 : 0x3210;
      return make_uint2(__byte_perm(w.x, 0, order), __byte_perm(w.y, 0, order));
    }
  }
  template <SampleType S>
  static __device__ Word load_one(const std::byte* p) {
    return static_cast<Word>(load_code<S>(p, 0)) << (S == SampleType::u8 ? 8 : 0);
  }
  static __device__ Four join(const Word (&w)[4]) { return make_uint2(w[0] | w[1] << 16, w[2] | w[3] << 16); }

  static __device__ std::uint32_t key(const GroupView& v, Word word, int tile) {
    const std::uint32_t s = tile ? word >> 16 : word & 0xffffu;
    return s >> (v.type == SampleType::u8 ? 8 : v.shift);
  }
  /// Four results of tile row `tile`, strength 1.
  static __device__ void store(const GroupView& v, std::byte* p, const Word (&w)[4], int tile) {
    if (v.type == SampleType::u8) {
      const auto a = __byte_perm(w[0], w[1], tile ? 0x0073 : 0x0051),
                 b = __byte_perm(w[2], w[3], tile ? 0x0073 : 0x0051);
      *reinterpret_cast<std::uint32_t*>(p) = __byte_perm(a, b, 0x5410);
      return;
    }
    const auto half = static_cast<std::uint32_t>(v.max_code << v.shift);
    const std::uint32_t top = half | half << 16, mask = (0xffffu << v.shift & 0xffffu) * 0x10001u;
    const int order = v.type == SampleType::u16_be ? (tile ? 0x6723 : 0x4501) : (tile ? 0x7632 : 0x5410);
    *reinterpret_cast<uint2*>(p) =
        make_uint2(__byte_perm(__vminu2(w[0] & mask, top), __vminu2(w[1] & mask, top), order),
                   __byte_perm(__vminu2(w[2] & mask, top), __vminu2(w[3] & mask, top), order));
  }
};

/// Floats by their order as integers, one tile in a word.
struct Float32 {
  using Word = std::int32_t;
  static constexpr int tiles = 1, apart = 0;
  static __device__ Word min(Word a, Word b) { return ::min(a, b); }
  static __device__ Word max(Word a, Word b) { return ::max(a, b); }

  using Four = int4;
  static __device__ Word pack(const Four* rows, int column, int y) {
    const Four& w = rows[y];
    return column == 0 ? w.x : column == 1 ? w.y : column == 2 ? w.z : w.w;
  }
  template <SampleType>
  static __device__ Four load(const std::byte* p) {
    const auto v = *reinterpret_cast<const float4*>(p);
    return make_int4(order_key(v.x), order_key(v.y), order_key(v.z), order_key(v.w));
  }
  template <SampleType>
  static __device__ Word load_one(const std::byte* p) {
    return order_key(*reinterpret_cast<const float*>(p));
  }
  static __device__ Four join(const Word (&w)[4]) { return make_int4(w[0], w[1], w[2], w[3]); }

  static __device__ std::uint32_t key(const GroupView&, Word word, int) {
    return static_cast<std::uint32_t>(word) ^ 0x80000000u;
  }
  static __device__ void store(const GroupView&, std::byte* p, const Word (&w)[4], int) {
    *reinterpret_cast<float4*>(p) =
        make_float4(from_order_key(w[0]), from_order_key(w[1]), from_order_key(w[2]), from_order_key(w[3]));
  }
};

// Rows of four samples from (x, y) on, borders replicated. The loop is free of branches, so that all loads
// are in flight together.
template <class Ops, SampleType S, int Rows>
__device__ void load_rows(const GroupView& v, bool wide, int x, int y, typename Ops::Four (&rows)[Rows]) {
  const std::byte* base = v.channel[blockIdx.z];
  const std::ptrdiff_t stride = v.stride[blockIdx.z];
  if (wide && x >= 0 && x + 4 <= v.width) {
    const std::byte* column = base + static_cast<std::ptrdiff_t>(x) * v.step;
#pragma unroll
    for (int i = 0; i < Rows; ++i)
      rows[i] = Ops::template load<S>(column + min(max(y + i, 0), v.height - 1) * stride);
    return;
  }
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
    const std::byte* row = base + min(max(y + i, 0), v.height - 1) * stride;
    typename Ops::Word one[4];
#pragma unroll
    for (int c = 0; c < 4; ++c)
      one[c] = Ops::template load_one<S>(row + static_cast<std::ptrdiff_t>(min(max(x + c, 0), v.width - 1)) *
                                                   v.step);
    rows[i] = Ops::join(one);
  }
}

template <class Ops, class F>
__device__ void with_type_of(const GroupView& v, F&& f) {
  if constexpr (Ops::tiles == 1)
    f.template operator()<SampleType::f32>();
  else if (v.type == SampleType::u8)
    f.template operator()<SampleType::u8>();
  else if (v.type == SampleType::u16_le)
    f.template operator()<SampleType::u16_le>();
  else
    f.template operator()<SampleType::u16_be>();
}

/// How a launch reads and writes: four samples at a time where memory allows it. Worked out on the host.
struct Access {
  bool wide_in, wide_out;

  explicit Access(const Launch& job)
      : wide_in(four_at_once(job.in)),
        wide_out(four_at_once(job.out) && job.strength == 1.f && !job.in.carry) {}
};

template <class Ops, int Rows>
__device__ void store_wide(const Launch& job, int x, int y, const typename Ops::Word (&out)[Rows][4]) {
#pragma unroll
  for (int tile = 0; tile < Ops::tiles; ++tile)
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
      const int at = y + Ops::apart * tile + row;
      if (at < job.out.height)
        Ops::store(job.out, const_cast<std::byte*>(sample_at(job.out, blockIdx.z, x, at)), out[row], tile);
    }
}

/// One sample at a time: any layout, any strength, and what is left at the right border. Word i of the tile,
/// row by row, is words[i * pitch].
template <class Ops, int Rows>
__device__ void store_each(const Launch& job, int x, int y, const typename Ops::Word* words, int pitch) {
  for (int i = 0; i < 4 * Rows * Ops::tiles; ++i) {
    const int tile = i / (4 * Rows), word = i % (4 * Rows);
    const int at_x = x + word % 4, at_y = y + Ops::apart * tile + word / 4;
    if (at_x < job.out.width && at_y < job.out.height)
      store_key(job, blockIdx.z, at_x, at_y, Ops::key(job.in, words[word * pitch], tile));
  }
}

}  // namespace quietframe::median
