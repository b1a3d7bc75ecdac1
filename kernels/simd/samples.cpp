// Rows of stored samples to levels and back in vectors; samples that are apart are gathered and scattered in
// chunks.
#include "simd/samples.hpp"

#include <algorithm>
#include <cstring>

#include "sample.hpp"
#include "simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/samples.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quietframe::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DI = hn::Rebind<std::int32_t, D>;
using V = hn::Vec<D>;
template <SampleType S>
using Stored = std::conditional_t<S == SampleType::u8, std::uint8_t, std::uint16_t>;

template <class DS, class VS>
HWY_INLINE VS swap_bytes(DS, VS v) {
  return hn::Or(hn::ShiftLeft<8>(v), hn::ShiftRight<8>(v));
}

// Adjacent samples; whole vectors only, the rest is left to the caller. Returns how many were done.
template <SampleType S>
int load(const Stored<S>* in, int shift, float levels_per_code, int count, float* out) {
  const D d;
  const DI di;
  const hn::Rebind<Stored<S>, D> ds;
  const V scale = hn::Set(d, levels_per_code);
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= count; x += lanes) {
    auto v = hn::LoadU(ds, in + x);
    if constexpr (S == SampleType::u16_le) v = hn::ShiftRightSame(v, shift);
    if constexpr (S == SampleType::u16_be) v = swap_bytes(ds, v);
    hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::PromoteTo(di, v)), scale), d, out + x);
  }
  (void)shift;
  return x;
}

template <SampleType S>
int store(const float* levels, int shift, float codes_per_level, int max_code, int count, Stored<S>* out) {
  const D d;
  const DI di;
  const hn::Rebind<Stored<S>, D> ds;
  const V scale = hn::Set(d, codes_per_level), half = hn::Set(d, 0.5f), zero = hn::Zero(d);
  const V top = hn::Set(d, static_cast<float>(max_code));
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= count; x += lanes) {
    const V v = hn::Add(hn::Mul(hn::LoadU(d, levels + x), scale), half);
    // A NaN is greater than nothing, and so becomes 0.
    const V code = hn::Min(hn::IfThenElseZero(hn::Gt(v, zero), v), top);
    auto s = hn::DemoteTo(ds, hn::ConvertTo(di, code));
    if constexpr (S == SampleType::u16_le) s = hn::ShiftLeftSame(s, shift);
    if constexpr (S == SampleType::u16_be) s = swap_bytes(ds, s);
    hn::StoreU(s, ds, out + x);
  }
  (void)shift;
  return x;
}

int load_u8(const std::uint8_t* in, int shift, float scale, int count, float* out) {
  return load<SampleType::u8>(in, shift, scale, count, out);
}
int load_u16_le(const std::uint16_t* in, int shift, float scale, int count, float* out) {
  return load<SampleType::u16_le>(in, shift, scale, count, out);
}
int load_u16_be(const std::uint16_t* in, int shift, float scale, int count, float* out) {
  return load<SampleType::u16_be>(in, shift, scale, count, out);
}
int store_u8(const float* levels, int shift, float scale, int max_code, int count, std::uint8_t* out) {
  return store<SampleType::u8>(levels, shift, scale, max_code, count, out);
}
int store_u16_le(const float* levels, int shift, float scale, int max_code, int count, std::uint16_t* out) {
  return store<SampleType::u16_le>(levels, shift, scale, max_code, count, out);
}
int store_u16_be(const float* levels, int shift, float scale, int max_code, int count, std::uint16_t* out) {
  return store<SampleType::u16_be>(levels, shift, scale, max_code, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quietframe::simd {
namespace {

HWY_EXPORT(load_u8);
HWY_EXPORT(load_u16_le);
HWY_EXPORT(load_u16_be);
HWY_EXPORT(store_u8);
HWY_EXPORT(store_u16_le);
HWY_EXPORT(store_u16_be);

constexpr int chunk = 256;  // samples gathered or scattered at a time

template <SampleType S>
struct Code {
  using Type = std::conditional_t<S == SampleType::u8, std::uint8_t, std::uint16_t>;
};

template <SampleType S>
void load_adjacent(const GroupView& v, const std::byte* in, int count, float* out) {
  if constexpr (S == SampleType::f32) {
    std::memcpy(out, in, sizeof(float) * static_cast<std::size_t>(count));
  } else {
    const auto* codes = reinterpret_cast<const typename Code<S>::Type*>(in);
    int x = 0;
    if constexpr (S == SampleType::u8)
      x = HWY_DYNAMIC_DISPATCH(load_u8)(codes, v.shift, v.levels_per_code, count, out);
    else if constexpr (S == SampleType::u16_le)
      x = HWY_DYNAMIC_DISPATCH(load_u16_le)(codes, v.shift, v.levels_per_code, count, out);
    else
      x = HWY_DYNAMIC_DISPATCH(load_u16_be)(codes, v.shift, v.levels_per_code, count, out);
    for (; x < count; ++x)
      out[x] = load_level<S>(in + static_cast<std::ptrdiff_t>(sizeof *codes) * x, v.shift, v.levels_per_code);
  }
}

template <SampleType S>
void store_adjacent(const GroupView& v, const float* levels, int count, std::byte* out) {
  if constexpr (S == SampleType::f32) {
    std::memcpy(out, levels, sizeof(float) * static_cast<std::size_t>(count));
  } else {
    auto* codes = reinterpret_cast<typename Code<S>::Type*>(out);
    const float scale = 1.f / v.levels_per_code;
    int x = 0;
    if constexpr (S == SampleType::u8)
      x = HWY_DYNAMIC_DISPATCH(store_u8)(levels, v.shift, scale, v.max_code, count, codes);
    else if constexpr (S == SampleType::u16_le)
      x = HWY_DYNAMIC_DISPATCH(store_u16_le)(levels, v.shift, scale, v.max_code, count, codes);
    else
      x = HWY_DYNAMIC_DISPATCH(store_u16_be)(levels, v.shift, scale, v.max_code, count, codes);
    for (; x < count; ++x)
      store_level<S>(out + static_cast<std::ptrdiff_t>(sizeof *codes) * x, v.shift, scale, v.max_code,
                     levels[x]);
  }
}

template <SampleType S>
constexpr int bytes_of() {
  return S == SampleType::u8 ? 1 : S == SampleType::f32 ? 4 : 2;
}

}  // namespace

void load_levels(const GroupView& v, const std::byte* in, int count, float* levels) {
  with_sample_type(v.type, [&]<SampleType S>() {
    constexpr int bytes = bytes_of<S>();
    if (v.step == bytes) return load_adjacent<S>(v, in, count, levels);
    alignas(64) std::byte samples[chunk * bytes];
    for (int begin = 0; begin < count; begin += chunk) {
      const int n = std::min(chunk, count - begin);
      for (int x = 0; x < n; ++x, in += v.step) std::memcpy(samples + x * bytes, in, bytes);
      load_adjacent<S>(v, samples, n, levels + begin);
    }
  });
}

void store_levels(const GroupView& v, const float* levels, int count, std::byte* out) {
  with_sample_type(v.type, [&]<SampleType S>() {
    constexpr int bytes = bytes_of<S>();
    if (v.step == bytes) return store_adjacent<S>(v, levels, count, out);
    alignas(64) std::byte samples[chunk * bytes];
    for (int begin = 0; begin < count; begin += chunk) {
      const int n = std::min(chunk, count - begin);
      store_adjacent<S>(v, levels + begin, n, samples);
      for (int x = 0; x < n; ++x, out += v.step) std::memcpy(out, samples + x * bytes, bytes);
    }
  });
}

}  // namespace quietframe::simd
#endif
