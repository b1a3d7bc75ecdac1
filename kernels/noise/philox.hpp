// A counter-based random generator: the numbers for sample (x, y) are a pure function of seed and position.
#pragma once
#include <array>
#include <cstdint>

namespace quietframe {

using RandomBlock = std::array<std::uint32_t, 4>;

/// Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
constexpr RandomBlock philox(RandomBlock counter, std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const auto a = std::uint64_t{0xD2511F53} * counter[0], b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return counter;
}

/// Uniform in (0, 1), never 0 or 1; every value is exact.
constexpr double uniform(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

}  // namespace quietframe
