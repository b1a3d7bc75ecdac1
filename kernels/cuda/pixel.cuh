// Device-side readers and writers of a group's pixels: the layout is a type, accesses are up to 16 bytes
// wide.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/job.hpp"
#include "cuda/words.cuh"
#include "processor.hpp"
#include "sample.hpp"

namespace quietframe::cuda {

/// How the channels of a group stand to each other in memory.
enum class Layout : std::uint8_t {
  planar,   ///< a plane per channel, samples side by side
  pairs,    ///< two channels, interleaved (NV12, P010)
  packed3,  ///< three channels, interleaved (RGB, BGR)
  packed4,  ///< three channels and a byte that is carried, one 32-bit word a pixel (RGBx, ABGR)
  strided,  ///< other groups stand between the samples (YUY2, UYVY)
};

inline Layout layout_of(const GroupView& v) {
  const int bytes = v.type == SampleType::u8 ? 1 : v.type == SampleType::f32 ? 4 : 2;
  if (v.carry) return Layout::packed4;
  if (v.step == bytes) return Layout::planar;
  const auto span = *std::max_element(v.channel.begin(), v.channel.begin() + v.channels) -
                    *std::min_element(v.channel.begin(), v.channel.begin() + v.channels);
  if (v.channels > 1 && v.step == bytes * v.channels && span == v.step - bytes)
    return v.channels == 2 ? Layout::pairs : Layout::packed3;
  return Layout::strided;
}

/// A group in device memory as kernels take it, by value.
struct PixelView {
  GroupView group;
  int align = 1;  ///< every row of every channel starts on a multiple of this; a power of two up to 16

  PixelView() = default;
  explicit PixelView(const GroupView& v) : group(v) {
    std::uintptr_t bits = 16;
    const bool planes = layout_of(v) == Layout::planar;  // else the lowest address of a pixel counts
    std::byte* lowest = v.channel[0];
    for (int c = 0; c < v.channels; ++c) {
      lowest = std::min(lowest, v.channel[c]);
      if (planes) bits |= reinterpret_cast<std::uintptr_t>(v.channel[c]);
      bits |= static_cast<std::uintptr_t>(v.stride[c]);
    }
    if (v.carry) lowest = std::min(lowest, v.carry);
    bits |= reinterpret_cast<std::uintptr_t>(lowest);
    align = static_cast<int>(bits & (~bits + 1));
  }
};

/// Both sides of a job as kernels take them, by value.
struct PixelJob {
  PixelView in, out;
  float strength, codes_per_level;

  explicit PixelJob(const CudaJob& job)
      : in(job.in), out(job.out), strength(job.strength), codes_per_level(1.f / job.in.levels_per_code) {}
};

/// Access to groups of C channels with samples of type S in layout L. A "run" is N pixels from an x that is a
/// multiple of N (a power of two), negative ones included; wide accesses are used where the rows allow it.
/// Codes are the stored values without padding bits; for f32 the code is the level itself.
template <SampleType S, int C, Layout L>
struct Pixels {
  static constexpr SampleType type = S;
  static constexpr int channels = C;
  static constexpr Layout layout = L;
  using Code = std::conditional_t<S == SampleType::f32, float, std::uint32_t>;
  static constexpr int bytes = S == SampleType::u8 ? 1 : S == SampleType::f32 ? 4 : 2;
  static constexpr int per_word = 4 / bytes;
  /// Samples of one memory row of a run, and whether that is whole words.
  template <int N>
  static constexpr int samples = L == Layout::planar    ? N
                                 : L == Layout::pairs   ? 2 * N
                                 : L == Layout::packed3 ? 3 * N
                                                        : 4 * N;
  template <int N>
  static constexpr bool wide = L != Layout::strided&& samples<N>* bytes % 4 == 0;

  /// Codes of the N pixels from (x, y), borders replicated: any x and y are good.
  template <int N>
  static __device__ void load_codes(const PixelView& view, int x, int y, Code (&code)[C][N]) {
    const auto& g = view.group;
    y = min(max(y, 0), g.height - 1);
    if constexpr (wide<N>) {
      if (view.align >= 4 && x >= 0 && x + N <= g.width) return load_wide<N>(view, x, y, code);
    }
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const std::byte* row = g.channel[c] + y * g.stride[c];
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const int xi = min(max(x + i, 0), g.width - 1);
        code[c][i] = load_one(row + std::ptrdiff_t{xi} * g.step, g.shift);
      }
    }
  }

  /// The same in levels.
  template <int N>
  static __device__ void load(const PixelView& view, int x, int y, float (&level)[C][N]) {
    Code code[C][N];
    load_codes<N>(view, x, y, code);
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int i = 0; i < N; ++i) level[c][i] = to_level(code[c][i], view.group.levels_per_code);
  }

  /// Whether rows are whole runs of N pixels that can be read at once: then a run from a multiple of N lies
  /// either inside or outside, and load_run reads it without a branch.
  template <int N>
  static QF_HD bool whole_runs(const PixelView& view) {
    return wide<N> && view.align >= 4 && view.group.width % N == 0;
  }

  /// load() where whole_runs holds.
  template <int N>
  static __device__ void load_run(const PixelView& view, int x, int y, float (&level)[C][N]) {
    static_assert(wide<N>);
    const auto& g = view.group;
    const int inside = min(max(x, 0), g.width - N);
    Code code[C][N];
    load_wide<N>(view, inside, min(max(y, 0), g.height - 1), code);
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const Code border = x < 0 ? code[c][0] : code[c][N - 1];
#pragma unroll
      for (int i = 0; i < N; ++i)
        level[c][i] = to_level(x == inside ? code[c][i] : border, g.levels_per_code);
    }
  }

  static __device__ float to_level(Code code, float levels_per_code) {
    if constexpr (S == SampleType::f32)
      return code;
    else if constexpr (S == SampleType::u8)
      return static_cast<float>(code);
    else
      return __fmul_rn(static_cast<float>(code), levels_per_code);
  }

  /// Writes those of the N pixels from (x, y) that lie inside, and the bytes carried along with them.
  /// 0 <= x, 0 <= y < height.
  template <int N>
  static __device__ void store_codes(const PixelJob& job, int x, int y, const Code (&code)[C][N]) {
    const auto& in = job.in.group;
    const auto& out = job.out.group;
    if constexpr (wide<N>) {
      if (job.out.align >= 4 && (L != Layout::packed4 || job.in.align >= 4) && x + N <= out.width)
        return store_wide<N>(job, x, y, code);
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (x + i >= out.width) return;
      const std::ptrdiff_t at = std::ptrdiff_t{x + i} * out.step;
#pragma unroll
      for (int c = 0; c < C; ++c) store_one(out.channel[c] + y * out.stride[c] + at, out.shift, code[c][i]);
      if constexpr (L == Layout::packed4) out.carry[y * out.stride[0] + at] = in.carry[y * in.stride[0] + at];
    }
  }

  /// The same from levels: mixed with the input by the job's strength, rounded and clamped as sample.hpp
  /// says.
  template <int N>
  static __device__ void store(const PixelJob& job, int x, int y, const float (&level)[C][N]) {
    Code code[C][N];
    if (job.strength == 1.f) {
#pragma unroll
      for (int c = 0; c < C; ++c)
#pragma unroll
        for (int i = 0; i < N; ++i)
          code[c][i] = to_code(level[c][i], job.codes_per_level, job.out.group.max_code);
    } else {
      float before[C][N];
      load<N>(job.in, x, y, before);
#pragma unroll
      for (int c = 0; c < C; ++c)
#pragma unroll
        for (int i = 0; i < N; ++i)
          code[c][i] = to_code(blend(before[c][i], level[c][i], job.strength), job.codes_per_level,
                               job.out.group.max_code);
    }
    store_codes<N>(job, x, y, code);
  }

  /// quietframe::mix without contraction, so that it rounds as the CPU does.
  static __device__ float blend(float input, float filtered, float strength) {
    return __fadd_rn(input, __fmul_rn(strength, __fsub_rn(filtered, input)));
  }

  /// quietframe::level_to_code without contraction.
  static __device__ Code to_code(float level, float codes_per_level, int max_code) {
    if constexpr (S == SampleType::f32) {
      return level;
    } else {
      const float v = __fadd_rn(S == SampleType::u8 ? level : __fmul_rn(level, codes_per_level), 0.5f);
      // fmaxf gives 0 for a NaN; the conversion truncates.
      return static_cast<std::uint32_t>(fminf(fmaxf(v, 0.f), static_cast<float>(max_code)));
    }
  }

 private:
  static __device__ Code load_one(const std::byte* p, int shift) {
    if constexpr (S == SampleType::f32)
      return *reinterpret_cast<const float*>(p);
    else
      return static_cast<std::uint32_t>(load_code<S>(p, shift));
  }
  static __device__ void store_one(std::byte* p, int shift, Code code) {
    if constexpr (S == SampleType::f32)
      *reinterpret_cast<float*>(p) = code;
    else
      store_code<S>(p, shift, static_cast<int>(code));
  }

  /// Sample k of a run of words; k is a constant after unrolling.
  static __device__ Code take(const std::uint32_t* w, int k, int shift) {
    const std::uint32_t word = w[k / per_word];
    if constexpr (S == SampleType::u8)
      return __byte_perm(word, 0, 0x4440 + k % 4);
    else if constexpr (S == SampleType::u16_le)
      return (k % 2 ? word >> 16 : word & 0xffffU) >> shift;
    else if constexpr (S == SampleType::u16_be)
      return __byte_perm(word, 0, k % 2 ? 0x4423 : 0x4401);
    else
      return __uint_as_float(word);
  }
  static __device__ void put(std::uint32_t* w, int k, int shift, Code code) {
    std::uint32_t& word = w[k / per_word];
    if constexpr (S == SampleType::u8)
      word = k % 4 == 0 ? code : word | code << 8 * (k % 4);
    else if constexpr (S == SampleType::u16_le)
      word = k % 2 == 0 ? code << shift : word | code << (16 + shift);
    else if constexpr (S == SampleType::u16_be)
      word = k % 2 == 0 ? __byte_perm(code, 0, 0x4401) : __byte_perm(word, code, 0x4510);
    else
      word = __float_as_uint(code);
  }

  /// The lowest address of a pixel, from which the others are constants apart.
  static __device__ std::byte* first(const GroupView& g) {
    if constexpr (L == Layout::pairs)
      return min(g.channel[0], g.channel[1]);
    else if constexpr (L == Layout::packed3)
      return min(g.channel[0], g.channel[2]);
    else
      return min(min(g.channel[0], g.channel[2]), g.carry);
  }
  static __device__ bool reversed(const GroupView& g) { return g.channel[C - 1] < g.channel[0]; }

  template <int N>
  static __device__ void load_wide(const PixelView& view, int x, int y, Code (&code)[C][N]) {
    const auto& g = view.group;
    constexpr int words = samples<N> * bytes / 4;
    std::uint32_t w[words];
    if constexpr (L == Layout::planar) {
#pragma unroll
      for (int c = 0; c < C; ++c) {
        detail::load_words<words>(g.channel[c] + y * g.stride[c] + std::ptrdiff_t{x} * bytes, view.align, w);
#pragma unroll
        for (int i = 0; i < N; ++i) code[c][i] = take(w, i, g.shift);
      }
    } else {
      detail::load_words<words>(first(g) + y * g.stride[0] + std::ptrdiff_t{x} * g.step, view.align, w);
      if constexpr (L == Layout::packed4) {
#pragma unroll
        for (int c = 0; c < C; ++c) {
          const int bits = 8 * static_cast<int>(g.channel[c] - first(g));
#pragma unroll
          for (int i = 0; i < N; ++i) code[c][i] = w[i] >> bits & 0xffU;
        }
      } else {
        const bool swap = reversed(g);
#pragma unroll
        for (int c = 0; c < C; ++c)
#pragma unroll
          for (int i = 0; i < N; ++i) {
            const Code a = take(w, C * i + c, g.shift), b = take(w, C * i + C - 1 - c, g.shift);
            code[c][i] = swap ? b : a;
          }
      }
    }
  }

  template <int N>
  static __device__ void store_wide(const PixelJob& job, int x, int y, const Code (&code)[C][N]) {
    const auto& g = job.out.group;
    constexpr int words = samples<N> * bytes / 4;
    std::uint32_t w[words];
    if constexpr (L == Layout::planar) {
#pragma unroll
      for (int c = 0; c < C; ++c) {
#pragma unroll
        for (int i = 0; i < N; ++i) put(w, i, g.shift, code[c][i]);
        detail::store_words<words>(g.channel[c] + y * g.stride[c] + std::ptrdiff_t{x} * bytes, job.out.align,
                                   w);
      }
    } else {
      if constexpr (L == Layout::packed4) {
        const auto& in = job.in.group;
        detail::load_words<words>(first(in) + y * in.stride[0] + std::ptrdiff_t{x} * 4, job.in.align, w);
        const std::uint32_t carried = 0xffU << 8 * static_cast<int>(g.carry - first(g));
#pragma unroll
        for (int i = 0; i < N; ++i) w[i] &= carried;
#pragma unroll
        for (int c = 0; c < C; ++c) {
          const int bits = 8 * static_cast<int>(g.channel[c] - first(g));
#pragma unroll
          for (int i = 0; i < N; ++i) w[i] |= code[c][i] << bits;
        }
      } else {
        const bool swap = reversed(g);
#pragma unroll
        for (int i = 0; i < N; ++i)
#pragma unroll
          for (int c = 0; c < C; ++c) put(w, C * i + c, g.shift, swap ? code[C - 1 - c][i] : code[c][i]);
      }
      detail::store_words<words>(first(g) + y * g.stride[0] + std::ptrdiff_t{x} * g.step, job.out.align, w);
    }
  }
};

/// Calls f.template operator()<Pixels<...>>() with the access that fits `type` and `layout`, of C channels.
/// On the device the branch is uniform: for kernels to which reading is a small part of the work. Returns
/// false where no pixel format of C channels stands so.
#pragma nv_exec_check_disable
template <int C, class F>
QF_HD bool select_pixels(SampleType type, Layout layout, F&& f) {
  using enum SampleType;
  using enum Layout;
  if constexpr (C == 1) {
    if (layout == strided) {
      if (type != u8) return false;
      return f.template operator()<Pixels<u8, 1, strided>>(), true;
    }
    switch (type) {
      case u8:
        return f.template operator()<Pixels<u8, 1, planar>>(), true;
      case u16_le:
        return f.template operator()<Pixels<u16_le, 1, planar>>(), true;
      case u16_be:
        return f.template operator()<Pixels<u16_be, 1, planar>>(), true;
      case f32:
        return f.template operator()<Pixels<f32, 1, planar>>(), true;
    }
  } else if constexpr (C == 2) {
    if (type == u8) {
      if (layout == planar) return f.template operator()<Pixels<u8, 2, planar>>(), true;
      if (layout == pairs) return f.template operator()<Pixels<u8, 2, pairs>>(), true;
      return f.template operator()<Pixels<u8, 2, strided>>(), true;
    }
    if (type == u16_le) {
      if (layout == planar) return f.template operator()<Pixels<u16_le, 2, planar>>(), true;
      if (layout == pairs) return f.template operator()<Pixels<u16_le, 2, pairs>>(), true;
    }
  } else {
    if (type == u8 && layout == packed4) return f.template operator()<Pixels<u8, 3, packed4>>(), true;
    if (type == u8 && layout == packed3) return f.template operator()<Pixels<u8, 3, packed3>>(), true;
    if (type == f32 && layout == packed3) return f.template operator()<Pixels<f32, 3, packed3>>(), true;
  }
  return false;
}

/// Host side: the same with the number of channels taken from the view.
template <class F>
void with_pixels(const GroupView& v, F&& f) {
  const auto layout = layout_of(v);
  const bool known = v.channels == 1   ? select_pixels<1>(v.type, layout, f)
                     : v.channels == 2 ? select_pixels<2>(v.type, layout, f)
                                       : select_pixels<3>(v.type, layout, f);
  if (!known) throw Error("the CUDA backend has no kernel for pixels laid out like these; use backend=cpu");
}

}  // namespace quietframe::cuda
