// Noise of each model, sample by sample, each from its own block of random numbers.
#include "noise/models.hpp"

#include <algorithm>
#include <cmath>

#include "noise/philox.hpp"
#include "noise/portable_math.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

// The random numbers of one sample, block after block.
class SampleRandom {
 public:
  SampleRandom(const NoiseStream& s, int x, int y)
      : counter_{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), s.frame, s.channel & 0xffU},
        seed_(s.seed) {}

  RandomBlock next() {
    const auto block = philox(counter_, seed_);
    counter_[3] += 0x100;
    return block;
  }

 private:
  RandomBlock counter_;
  std::uint64_t seed_;
};

// log(k!): exact sums below 16, Stirling's series above (error below 1e-12).
double log_factorial(double k) {
  if (k < 16) {
    double sum = 0;
    for (int i = 2; i <= static_cast<int>(k); ++i) sum += portable::log(i);
    return sum;
  }
  constexpr double half_log_two_pi = 0.918938533204672741780329736406;
  const double n = k + 1, r = 1 / (n * n);
  return (n - 0.5) * portable::log(n) - n + half_log_two_pi + (1 - r * (1.0 / 30 - r / 105)) / (12 * n);
}

// Few photons: multiply uniforms until the product falls below exp(-mean) (Knuth).
double poisson_small(double mean, SampleRandom& random) {
  const double limit = portable::exp(-mean);
  double product = 1;
  for (int k = 0;; k += 4) {
    const auto block = random.next();
    for (int i = 0; i < 4; ++i) {
      product *= uniform(block[static_cast<std::size_t>(i)]);
      if (product <= limit) return k + i;
    }
  }
}

// Many photons: transformed rejection with squeeze, PTRS (Hormann 1993), valid for mean >= 10.
double poisson_large(double mean, SampleRandom& random) {
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), accept = 0.9277 - 3.6224 / (b - 2);
  const double log_mean = portable::log(mean);
  for (;;) {
    const auto block = random.next();
    const double u = uniform(block[0]) - 0.5, v = uniform(block[1]), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= accept) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (portable::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(k))
      return k;
  }
}

double noisy_sample(NoiseModel model, double in, double strength, SampleRandom random) {
  if (model == NoiseModel::poisson) {
    const double photons_per_level = 255 / (strength * strength),
                 mean = std::max(in, 0.0) * photons_per_level;
    if (mean <= 0) return 0;
    return (mean < 10 ? poisson_small(mean, random) : poisson_large(mean, random)) / photons_per_level;
  }
  const auto block = random.next();
  if (model == NoiseModel::salt_pepper) {
    if (uniform(block[0]) * 100 >= strength) return in;
    return block[1] & 1 ? 255 : 0;
  }
  const auto n = portable::normal_pair(block[0], block[1]);
  switch (model) {
    case NoiseModel::rician: {
      const double real = in + strength * n[0], imaginary = strength * n[1];
      return std::sqrt(real * real + imaginary * imaginary);
    }
    case NoiseModel::speckle:
      return in * (1 + strength / 255 * n[0]);
    default:
      return in + strength * n[0];
  }
}

}  // namespace

void add_noise(const ImageView<const float>& in, const ImageView<float>& out, const NoiseParams& params,
               const NoiseStream& stream, ThreadPool& pool) {
  const double strength = static_cast<double>(params.strength);
  pool.parallel_for(in.height, 16, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      const float* from = in.row(y);
      float* to = out.row(y);
      for (int x = 0; x < in.width; ++x)
        to[x] = strength <= 0 ? from[x]
                              : static_cast<float>(noisy_sample(params.model, static_cast<double>(from[x]),
                                                                strength, SampleRandom(stream, x, y)));
    }
  });
}

}  // namespace quietframe
