// log, exp, sine and cosine from the four operations and sqrt alone, so that results are equal to the bit on
// every machine and C library. (This folder and phantom/ are compiled without contraction to FMA.)
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "noise/philox.hpp"

namespace quietframe::portable {

/// Natural logarithm of a positive normal number; error below 4e-16 relative to max(1, |log x|).
inline double log(double x) {
  constexpr double ln2 = 0.693147180559945309417232121458;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)), where the series below converges fastest.
  constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcd;
  const auto e = static_cast<std::int64_t>(bits - sqrt_half) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(e) << 52));
  const double s = (m - 1) / (m + 1), q = s * s;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) sum = (sum + 1.0 / k) * q;  // atanh(s)/s - 1
  return static_cast<double>(e) * ln2 + (2 * s + 2 * s * sum);
}

/// e^x for |x| < 700.
inline double exp(double x) {
  constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  const double k = std::floor(x / (ln2_high + ln2_low) + 0.5);
  const double r = (x - k * ln2_high) - k * ln2_low;
  double sum = 1;
  for (int n = 13; n >= 1; --n) sum = 1 + sum * r / n;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52);
}

struct CosSin {
  double cos, sin;
};

/// Cosine and sine of `turns` whole turns, |turns| < 1e6.
inline CosSin cos_sin(double turns) {
  constexpr double half_pi = 1.57079632679489661923132169164;
  const double quarter = std::floor(turns * 4 + 0.5);
  const double a = (turns * 4 - quarter) * half_pi, q = a * a;
  double s = 1, c = 1;
  for (int n = 15; n >= 3; n -= 2) s = 1 - s * q / (n * (n - 1));
  for (int n = 16; n >= 2; n -= 2) c = 1 - c * q / (n * (n - 1));
  s *= a;
  switch (static_cast<std::int64_t>(quarter) & 3) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

/// Two independent standard normal numbers from two words (Box & Muller 1958); at most 6.7 in size.
inline std::array<double, 2> normal_pair(std::uint32_t first, std::uint32_t second) {
  const double radius = std::sqrt(-2 * log(uniform(first)));
  const auto angle = cos_sin(uniform(second));
  return {radius * angle.cos, radius * angle.sin};
}

}  // namespace quietframe::portable
