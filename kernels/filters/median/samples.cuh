// The samples of a channel group as integer keys in the order of the samples, read and written on the device
// in every layout; shared by all CUDA variants of the median.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "filters/median/cuda_launch.hpp"
#include "sample.hpp"

namespace quietframe::median {

/// Orders samples without NaN's exceptions: codes as they are, floats by order_key moved to unsigned.
__device__ inline std::uint32_t float_key(float v) {
  return static_cast<std::uint32_t>(order_key(v)) ^ 0x80000000u;
}
__device__ inline float key_float(std::uint32_t key) {
  return from_order_key(static_cast<std::int32_t>(key ^ 0x80000000u));
}

template <SampleType S>
__device__ inline std::uint32_t load_key_at(const std::byte* p, int shift) {
  if constexpr (S == SampleType::f32)
    return float_key(*reinterpret_cast<const float*>(p));
  else
    return static_cast<std::uint32_t>(load_code<S>(p, shift));
}

__device__ inline const std::byte* sample_at(const GroupView& v, int c, int x, int y) {
  return v.channel[c] + y * v.stride[c] + static_cast<std::ptrdiff_t>(x) * v.step;
}

/// Host: whether four samples from an x that is a multiple of four are one aligned word of memory.
inline bool four_at_once(const GroupView& v) {
  const int bytes = v.type == SampleType::u8 ? 1 : v.type == SampleType::f32 ? 4 : 2;
  if (v.step != bytes) return false;
  for (int c = 0; c < v.channels; ++c)
    if ((reinterpret_cast<std::uintptr_t>(v.channel[c]) | static_cast<std::uintptr_t>(v.stride[c])) %
        (4 * bytes))
      return false;
  return true;
}

/// with_sample_type for the device.
template <class F>
__device__ inline void with_type(SampleType type, F&& f) {
  switch (type) {
    case SampleType::u8:
      return f.template operator()<SampleType::u8>();
    case SampleType::u16_le:
      return f.template operator()<SampleType::u16_le>();
    case SampleType::u16_be:
      return f.template operator()<SampleType::u16_be>();
    default:
      f.template operator()<SampleType::f32>();
  }
}

/// Key of sample (x, y), which may lie outside: borders replicate.
__device__ inline std::uint32_t load_key(const GroupView& v, int c, int x, int y) {
  const std::byte* p = sample_at(v, c, min(max(x, 0), v.width - 1), min(max(y, 0), v.height - 1));
  std::uint32_t key = 0;
  with_type(v.type, [&]<SampleType S>() { key = load_key_at<S>(p, v.shift); });
  return key;
}

/// `strength` < 1, in the arithmetic of the CPU processor: every product and sum rounded by itself, so that
/// mixed codes are equal bit for bit too.
__device__ inline float mix_rounded(float input, float filtered, float strength) {
  return __fadd_rn(input, __fmul_rn(strength, __fsub_rn(filtered, input)));
}

__device__ inline int mix_codes(const GroupView& v, int input, int filtered, float strength) {
  const float level = mix_rounded(__fmul_rn(static_cast<float>(input), v.levels_per_code),
                                  __fmul_rn(static_cast<float>(filtered), v.levels_per_code), strength);
  const float code = __fadd_rn(__fmul_rn(level, 1.f / v.levels_per_code), 0.5f);
  return code > 0.f ? min(static_cast<int>(code), v.max_code) : 0;
}

template <SampleType S>
__device__ inline void store_key_at(const Launch& job, const std::byte* before, std::byte* out,
                                    std::uint32_t key) {
  if constexpr (S == SampleType::f32) {
    const float v = key_float(key);
    *reinterpret_cast<float*>(out) =
        job.strength == 1.f ? v : mix_rounded(*reinterpret_cast<const float*>(before), v, job.strength);
  } else {
    int code = min(static_cast<int>(key), job.out.max_code);
    if (job.strength != 1.f)
      code = mix_codes(job.out, load_code<S>(before, job.in.shift), static_cast<int>(key), job.strength);
    store_code<S>(out, job.out.shift, code);
  }
}

/// Writes the filtered sample (x, y) of channel c, mixed with the input, and with channel 0 the carry byte.
__device__ inline void store_key(const Launch& job, int c, int x, int y, std::uint32_t key) {
  const std::byte* before = sample_at(job.in, c, x, y);
  auto* out = const_cast<std::byte*>(sample_at(job.out, c, x, y));
  with_type(job.out.type, [&]<SampleType S>() { store_key_at<S>(job, before, out, key); });
  if (job.in.carry && c == 0)
    job.out.carry[y * job.out.stride[0] + static_cast<std::ptrdiff_t>(x) * job.out.step] =
        job.in.carry[y * job.in.stride[0] + static_cast<std::ptrdiff_t>(x) * job.in.step];
}

}  // namespace quietframe::median
