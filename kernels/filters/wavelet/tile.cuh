// What the wavelet kernels share on the device: runs of samples with mirrored borders, and one-dimensional
// transforms in registers.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/job.hpp"
#include "filters/wavelet/bank.hpp"
#include "sample.hpp"

namespace quietframe::wavelet {

/// A group as kernels take it: blockIdx.z chooses the channel.
struct Channels {
  GroupView group;
  bool wide;  ///< samples stand side by side, and rows start on multiples of four of them
  float codes_per_level;
};

inline Channels channels_of(const GroupView& v) {
  const int bytes = v.type == SampleType::u8 ? 1 : v.type == SampleType::f32 ? 4 : 2;
  std::uintptr_t bits = 0;
  for (int c = 0; c < v.channels; ++c)
    bits |= reinterpret_cast<std::uintptr_t>(v.channel[c]) | static_cast<std::uintptr_t>(v.stride[c]);
  return {v, v.step == bytes && bits % static_cast<unsigned>(4 * bytes) == 0, 1.f / v.levels_per_code};
}

/// Levels of four samples that stand side by side, 4-sample aligned.
template <SampleType S>
__device__ inline void load_four(const std::byte* p, const GroupView& g, float (&level)[4]) {
  if constexpr (S == SampleType::u8) {
    const uchar4 v = __ldg(reinterpret_cast<const uchar4*>(p));
    level[0] = v.x, level[1] = v.y, level[2] = v.z, level[3] = v.w;
  } else if constexpr (S == SampleType::f32) {
    const float4 v = __ldg(reinterpret_cast<const float4*>(p));
    level[0] = v.x, level[1] = v.y, level[2] = v.z, level[3] = v.w;
  } else {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(p));
    const std::uint32_t word[2] = {v.x, v.y};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t code;
      if constexpr (S == SampleType::u16_le)
        code = (i % 2 ? word[i / 2] >> 16 : word[i / 2] & 0xffffU) >> g.shift;
      else
        code = __byte_perm(word[i / 2], 0, i % 2 ? 0x4423 : 0x4401);
      level[i] = __fmul_rn(static_cast<float>(code), g.levels_per_code);
    }
  }
}

/// level_to_code of sample.hpp, without contraction so that it rounds as the CPU does.
template <SampleType S>
__device__ inline std::uint32_t code_of(float level, const Channels& out) {
  const float v = __fadd_rn(S == SampleType::u8 ? level : __fmul_rn(level, out.codes_per_level), 0.5f);
  return static_cast<std::uint32_t>(fminf(fmaxf(v, 0.f), static_cast<float>(out.group.max_code)));  // NaN: 0
}

template <SampleType S>
__device__ inline void store_four(std::byte* p, const Channels& out, const float (&level)[4]) {
  if constexpr (S == SampleType::f32) {
    *reinterpret_cast<float4*>(p) = make_float4(level[0], level[1], level[2], level[3]);
  } else {
    std::uint32_t code[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) code[i] = code_of<S>(level[i], out);
    if constexpr (S == SampleType::u8) {
      *reinterpret_cast<std::uint32_t*>(p) =
          __byte_perm(__byte_perm(code[0], code[1], 0x4040), __byte_perm(code[2], code[3], 0x4040), 0x5410);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        code[i] = S == SampleType::u16_le ? code[i] << out.group.shift : __byte_perm(code[i], 0, 0x4401);
      *reinterpret_cast<uint2*>(p) = make_uint2(code[0] | code[1] << 16, code[2] | code[3] << 16);
    }
  }
}

/// reflect() without a division. Indices so far outside that no coefficient needs them may come out as any in
/// 0..n-1.
__device__ inline int mirror(int i, int n) {
  i = i < 0 ? -1 - i : i;
  i = i >= n ? 2 * n - 1 - i : i;
  if (n < max_taps)  // borders longer than the picture
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return max(i, 0);
}

/// Levels of N samples from x0, a multiple of four that may be negative, of row y (any: mirrored).
template <SampleType S, int N>
__device__ inline void load_run(const Channels& in, int c, int x0, int y, float (&level)[N]) {
  static_assert(N % 4 == 0);
  const GroupView& g = in.group;
  const std::byte* row = g.channel[c] + mirror(y, g.height) * g.stride[c];
  if (in.wide && x0 >= 0 && x0 + N <= g.width) {
#pragma unroll
    for (int k = 0; k < N; k += 4) {
      float four[4];
      load_four<S>(row + std::ptrdiff_t{x0 + k} * (S == SampleType::u8    ? 1
                                                   : S == SampleType::f32 ? 4
                                                                          : 2),
                   g, four);
#pragma unroll
      for (int i = 0; i < 4; ++i) level[k + i] = four[i];
    }
  } else {
#pragma unroll
    for (int k = 0; k < N; ++k)
      level[k] =
          load_level<S>(row + std::ptrdiff_t{mirror(x0 + k, g.width)} * g.step, g.shift, g.levels_per_code);
  }
}

/// Writes those of four samples from x (a multiple of four, not negative) that lie inside row y, with what is
/// carried along, mixed with the input.
template <SampleType S>
__device__ inline void store_run(const Channels& in, const Channels& out, float strength, int c, int x, int y,
                                 float (&level)[4]) {
  const GroupView& g = out.group;
  const std::byte* before = in.group.channel[c] + y * in.group.stride[c] + std::ptrdiff_t{x} * in.group.step;
  std::byte* to = g.channel[c] + y * g.stride[c] + std::ptrdiff_t{x} * g.step;
  const int inside = g.width - x;
  if (strength != 1.f) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i >= inside) break;
      const float b = load_level<S>(before + std::ptrdiff_t{i} * in.group.step, g.shift, g.levels_per_code);
      level[i] = __fadd_rn(b, __fmul_rn(strength, __fsub_rn(level[i], b)));
    }
  }
  if (out.wide && inside >= 4) return store_four<S>(to, out, level);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i >= inside) break;
    if constexpr (S == SampleType::f32)
      *reinterpret_cast<float*>(to + std::ptrdiff_t{i} * g.step) = level[i];
    else
      store_code<S>(to + std::ptrdiff_t{i} * g.step, g.shift, static_cast<int>(code_of<S>(level[i], out)));
    if (g.carry && c == 0) {
      const std::ptrdiff_t at = std::ptrdiff_t{x + i};
      g.carry[y * g.stride[0] + at * g.step] = in.group.carry[y * in.group.stride[0] + at * in.group.step];
    }
  }
}

/// The filters of one basis as constants of the code: products with zero are left out.
template <Basis B>
struct Fir {
  static constexpr Bank bank = bank_of(B);
  static constexpr int taps = bank.taps;
  static constexpr int half = taps / 2;
  /// Samples before the first and after the last that any used coefficient needs, of the taps - 2 (bior4.4
  /// has zero ends).
  static constexpr int unused_front = B == Basis::bior44 ? 2 : 0;
  static constexpr int unused_back = B == Basis::bior44 ? 1 : 0;

  /// c[i] = sum_j dec[j] x[2i + taps - 1 - j] for i < N; x starts at sample 2 i0 + 2 - taps of coefficient
  /// i0.
  template <bool High, int N, int M>
  static __device__ void analyse(const float (&x)[M], float (&c)[N]) {
    static_assert(M >= 2 * N + taps - 2);
    constexpr Bank b = bank_of(B);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      float sum = 0.f;
#pragma unroll
      for (int j = 0; j < taps; ++j) {
        const float d = High ? b.dec_hi[j] : b.dec_lo[j];
        if (d != 0.f) sum = fmaf(d, x[2 * i + taps - 1 - j], sum);
      }
      c[i] = sum;
    }
  }

  /// x[2m + odd] for m < N from lo, hi that start at coefficient m0 of sample 2 m0.
  template <int N, int M>
  static __device__ void synthesise(const float (&lo)[M], const float (&hi)[M], float (&x)[2 * N]) {
    static_assert(M >= N + half - 1);
    constexpr Bank b = bank_of(B);
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) {
      const int m = i / 2, odd = i % 2;
      float sum = 0.f;
#pragma unroll
      for (int j = 0; j < half; ++j) {
        if (b.rec_lo[2 * j + odd] != 0.f) sum = fmaf(b.rec_lo[2 * j + odd], lo[m + half - 1 - j], sum);
        if (b.rec_hi[2 * j + odd] != 0.f) sum = fmaf(b.rec_hi[2 * j + odd], hi[m + half - 1 - j], sum);
      }
      x[i] = sum;
    }
  }
};

/// What the fused kernel transforms with. Its coefficients may differ from the bank's by a factor that the
/// synthesis takes back: LL = ll_factor lo(lo), HH = hh_factor hi(hi), |LH| and |HL| are equal.
template <Basis B>
struct Transform : Fir<B> {
  static constexpr float ll_factor = 1.f, hh_factor = 1.f;

  template <int N, int M>
  static __device__ void analyse(const float (&x)[M], float (&lo)[N], float (&hi)[N]) {
    Fir<B>::template analyse<false>(x, lo);
    Fir<B>::template analyse<true>(x, hi);
  }
};

/// bior4.4 by lifting: 8 additions and multiplications a pair of samples for the 16 of its filters
/// (Daubechies and Sweldens 1998, section 7.3; the factors are those of JPEG 2000). The scaling that is left
/// out is sqrt(2) / K for lo, -K / sqrt(2) for hi.
template <>
struct Transform<Basis::bior44> : Fir<Basis::bior44> {
  static constexpr float a = -1.586134342059924f, b = -0.052980118572961f, g = 0.882911075530934f,
                         d = 0.443506852043971f;
  static constexpr float k = 1.230174104914001f;
  static constexpr float ll_factor = 2.f / (k * k), hh_factor = k * k / 2.f;

  /// x as for Fir: coefficient i stands at samples 2i + 4 (lo) and 2i + 5 (hi) of it. Output needs no
  /// lo[0] of a column run, so that samples 0 and 1 of it are not read.
  template <int N, int M>
  static __device__ void analyse(const float (&x)[M], float (&lo)[N], float (&hi)[N]) {
    static_assert(M >= 2 * N + 8);
    float d1[N + 3], s1[N + 3], d2[N + 2];  // at pairs of x
#pragma unroll
    for (int i = 0; i < N + 3; ++i) d1[i] = fmaf(a, x[2 * i] + x[2 * i + 2], x[2 * i + 1]);
#pragma unroll
    for (int i = 1; i < N + 3; ++i) s1[i] = fmaf(b, d1[i - 1] + d1[i], x[2 * i]);
#pragma unroll
    for (int i = 1; i < N + 2; ++i) d2[i] = fmaf(g, s1[i] + s1[i + 1], d1[i]);
#pragma unroll
    for (int i = 2; i < N + 2; ++i) lo[i - 2] = fmaf(d, d2[i - 1] + d2[i], s1[i]), hi[i - 2] = d2[i];
  }

  template <int N, int M>
  static __device__ void synthesise(const float (&lo)[M], const float (&hi)[M], float (&x)[2 * N]) {
    static_assert(M >= N + 4);
    float s1[N + 4], d1[N + 4], even[N + 1];  // at lo and hi
#pragma unroll
    for (int i = 1; i < N + 4; ++i) s1[i] = fmaf(-d, hi[i - 1] + hi[i], lo[i]);
#pragma unroll
    for (int i = 1; i < N + 3; ++i) d1[i] = fmaf(-g, s1[i] + s1[i + 1], hi[i]);
#pragma unroll
    for (int i = 0; i < N + 1; ++i) even[i] = fmaf(-b, d1[i + 1] + d1[i + 2], s1[i + 2]);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      x[2 * i] = even[i];
      x[2 * i + 1] = fmaf(-a, even[i] + even[i + 1], d1[i + 2]);
    }
  }
};

template <int N>
__device__ inline void shrink_all(Rule rule, float tau, float (&c)[N]) {
  if (rule == Rule::soft) {
#pragma unroll
    for (int i = 0; i < N; ++i) c[i] -= fminf(fmaxf(c[i], -tau), tau);
  } else if (rule == Rule::hard) {
#pragma unroll
    for (int i = 0; i < N; ++i) c[i] = shrink<Rule::hard>(c[i], tau);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) c[i] = fabsf(c[i]) > tau ? c[i] - __fdividef(tau * tau, c[i]) : 0.f;
  }
}

/// Calls f.template operator()<Basis>() with the basis as a constant.
template <class F>
void with_basis(Basis basis, F&& f) {
  switch (basis) {
    case Basis::haar:
      return f.template operator()<Basis::haar>();
    case Basis::db4:
      return f.template operator()<Basis::db4>();
    case Basis::sym4:
      return f.template operator()<Basis::sym4>();
    case Basis::coif2:
      return f.template operator()<Basis::coif2>();
    case Basis::bior44:
      return f.template operator()<Basis::bior44>();
  }
}

}  // namespace quietframe::wavelet
