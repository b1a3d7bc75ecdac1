// How one stored sample becomes levels (0..255, float) and back: the only place that knows depth, padding and
// rounding.
#pragma once
#include "pixel_format.hpp"

namespace quietframe {

/// Code of the sample at `p`, with padding bits below the value removed. S is not f32.
template <SampleType S>
QF_HD inline int load_code(const std::byte* p, int shift) {
  if constexpr (S == SampleType::u8) {
    return static_cast<int>(*reinterpret_cast<const std::uint8_t*>(p));
  } else if constexpr (S == SampleType::u16_le) {
    return *reinterpret_cast<const std::uint16_t*>(p) >> shift;
  } else {
    const auto* b = reinterpret_cast<const std::uint8_t*>(p);
    return (b[0] << 8) | b[1];
  }
}

template <SampleType S>
QF_HD inline void store_code(std::byte* p, int shift, int code) {
  if constexpr (S == SampleType::u8) {
    *reinterpret_cast<std::uint8_t*>(p) = static_cast<std::uint8_t>(code);
  } else if constexpr (S == SampleType::u16_le) {
    *reinterpret_cast<std::uint16_t*>(p) = static_cast<std::uint16_t>(code << shift);
  } else {
    auto* b = reinterpret_cast<std::uint8_t*>(p);
    b[0] = static_cast<std::uint8_t>(code >> 8);
    b[1] = static_cast<std::uint8_t>(code);
  }
}

/// Sample at `p` in levels.
template <SampleType S>
QF_HD inline float load_level(const std::byte* p, int shift, float levels_per_code) {
  if constexpr (S == SampleType::f32)
    return *reinterpret_cast<const float*>(p);
  else
    return static_cast<float>(load_code<S>(p, shift)) * levels_per_code;
}

/// Nearest code to `level`, half up, clamped to 0..max_code. A NaN becomes 0.
QF_HD inline int level_to_code(float level, float codes_per_level, int max_code) {
  const float v = level * codes_per_level + 0.5f;
  if (!(v > 0.f)) return 0;
  const float top = static_cast<float>(max_code);
  return v >= top ? max_code : static_cast<int>(v);
}

template <SampleType S>
QF_HD inline void store_level(std::byte* p, int shift, float codes_per_level, int max_code, float level) {
  if constexpr (S == SampleType::f32)
    *reinterpret_cast<float*>(p) = level;
  else
    store_code<S>(p, shift, level_to_code(level, codes_per_level, max_code));
}

/// Mix of output and input by the property `strength`: 1 is the filter alone. Written so that strength 1 is
/// exact.
QF_HD inline float mix(float input, float filtered, float strength) {
  return strength == 1.f ? filtered : input + strength * (filtered - input);
}

/// Calls f.template operator()<S>() with the sample type as a constant.
template <class F>
decltype(auto) with_sample_type(SampleType type, F&& f) {
  switch (type) {
    case SampleType::u8:
      return f.template operator()<SampleType::u8>();
    case SampleType::u16_le:
      return f.template operator()<SampleType::u16_le>();
    case SampleType::u16_be:
      return f.template operator()<SampleType::u16_be>();
    default:
      return f.template operator()<SampleType::f32>();
  }
}

}  // namespace quietframe
