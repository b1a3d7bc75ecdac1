// B-mode ultrasound with fully developed speckle: random scatterers fixed in moving tissue, seen through a
// point spread function, envelope, noise floor and log compression; and its exact mean over the speckle.
#include <array>
#include <cmath>
#include <vector>

#include "noise/portable_math.hpp"
#include "phantom/scenes.hpp"
#include "phantom/tissue.hpp"
#include "thread_pool.hpp"

namespace quietframe::phantom {
namespace {

constexpr double dynamic_range_db = 60;
constexpr double axial_sigma = 1.1, lateral_sigma = 1.7;  // of the point spread function, samples
constexpr int reach = 6;                                  // taps on each side: more than 3.4 sigma
constexpr int margin = 16;                                // tissue beyond the edges that may move in

struct Plane {
  int width = 0, height = 0;
  std::vector<float> data;
  void resize(int w, int h) {
    width = w;
    height = h;
    data.assign(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), 0.f);
  }
  float* row(int y) { return data.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width); }
};

using Taps = std::array<float, 2 * reach + 1>;

// Gaussian at distance i - reach + shift, scaled so that its squares sum to 1: power passes unchanged.
Taps psf_taps(double sigma, double shift) {
  std::array<double, 2 * reach + 1> w{};
  double squares = 0;
  for (int i = 0; i <= 2 * reach; ++i) {
    const double d = i - reach + shift;
    w[static_cast<std::size_t>(i)] = portable::exp(-d * d / (2 * sigma * sigma));
    squares += w[static_cast<std::size_t>(i)] * w[static_cast<std::size_t>(i)];
  }
  Taps taps{};
  for (std::size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<float>(w[i] / std::sqrt(squares));
  return taps;
}

Taps squared(const Taps& taps) {
  Taps s = taps;
  for (auto& t : s) t *= t;
  return s;
}

double sum_of(const Taps& taps) {
  double sum = 0;
  for (const float t : taps) sum += static_cast<double>(t);
  return sum;
}

// E1(x) = integral from x of exp(-t)/t, x > 0: series to 1, continued fraction above (Abramowitz &
// Stegun 5.1).
double exponential_integral(double x) {
  constexpr double euler = 0.577215664901532860606512090082;
  if (x > 40) return 0;
  if (x <= 1) {
    double sum = -euler - portable::log(x), term = 1;
    for (int k = 1; k < 20; ++k) {
      term *= -x / k;
      sum -= term / k;
    }
    return sum;
  }
  double fraction = 0;
  for (int k = 40; k >= 1; --k) fraction = k / (1 + k / (x + fraction));
  return portable::exp(-x) / (x + fraction);
}

double to_level(double log_power) {
  constexpr double db_per_log = 4.34294481903251827651128918917;
  return 255 * (1 + log_power * db_per_log / dynamic_range_db);
}

// Mean of log |z|^2 for a complex normal z of mean power `scattered` about a constant of power `mirrored`.
double mean_log_power(double scattered, double mirrored) {
  constexpr double euler = 0.577215664901532860606512090082;
  const double ratio = mirrored / scattered;
  if (ratio < 1e-6) return portable::log(scattered) - euler;
  return portable::log(mirrored) + exponential_integral(ratio);
}

// What is scanned, line by line, before the lines are laid out as a picture.
class Scan {
 public:
  Scan(int width, int height, double aspect, std::uint64_t seed)
      : width_(width), height_(height), aspect_(aspect), seed_(seed) {
    const int w = width + 2 * margin, h = height + 2 * margin;
    for (auto* p : {&random_re_, &random_im_, &re_, &im_, &power_, &specular_}) p->resize(w, h);
    for (auto& p : across_) p.resize(width, h);
    clean.resize(width, height);
    noisy.resize(width, height);
  }

  Plane clean, noisy;  ///< levels

  void scan(int t, bool want_clean, bool want_noisy, ThreadPool& pool) {
    // Breathing, four seconds; the heart, 25 frames a beat; displacements stay inside the margin.
    const double dy = 0.35 * margin * portable::cos_sin(t / 120.0).sin,
                 dx = 0.2 * margin * portable::cos_sin(t / 95.0).sin;
    const double beat = portable::cos_sin(t / 25.0).sin;
    place_scatterers(beat, pool);
    see(dx, dy, pool);
    pool.parallel_for(height_, 8, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) compress_row(t, y, want_clean, want_noisy);
    });
  }

 private:
  void draw_scatterers(ThreadPool& pool) {
    pool.parallel_for(random_re_.height, 8, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y)
        for (int x = 0; x < random_re_.width; ++x) {
          const auto block =
              philox({static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0, 0xfe}, seed_);
          const auto n = portable::normal_pair(block[0], block[1]);
          random_re_.row(y)[x] = static_cast<float>(n[0] * std::sqrt(0.5));
          random_im_.row(y)[x] = static_cast<float>(n[1] * std::sqrt(0.5));
        }
    });
    drawn_ = true;
  }

  void place_scatterers(double beat, ThreadPool& pool) {
    if (!drawn_) draw_scatterers(pool);
    constexpr double amplitude_per_db = 0.115129254649702284200899572734;  // ln(10) / 20
    pool.parallel_for(power_.height, 8, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y)
        for (int x = 0; x < power_.width; ++x) {
          const auto echo = tissue_echo((x - margin + 0.5) / width_, (y - margin + 0.5) / height_, aspect_,
                                        beat, 1.0 / height_);
          const double a = portable::exp(echo.scatter_db * amplitude_per_db);
          re_.row(y)[x] = static_cast<float>(a) * random_re_.row(y)[x];
          im_.row(y)[x] = static_cast<float>(a) * random_im_.row(y)[x];
          power_.row(y)[x] = static_cast<float>(a * a);
          specular_.row(y)[x] = echo.specular_db <= -200
                                    ? 0.f
                                    : static_cast<float>(portable::exp(echo.specular_db * amplitude_per_db));
        }
    });
  }

  // Sample x of the result is the sum of in[x + margin - whole + i - reach] taps[i].
  static void across(const float* in, float* out, int width, int whole, const Taps& taps) {
    for (int x = 0; x < width; ++x) out[x] = 0;
    for (int i = 0; i <= 2 * reach; ++i) {
      const float w = taps[static_cast<std::size_t>(i)];
      const float* from = in + margin - whole + i - reach;
      for (int x = 0; x < width; ++x) out[x] += w * from[x];
    }
  }

  // Scatterers, moved by (dx, dy) samples, through the point spread function; across here, down in
  // compress_row.
  void see(double dx, double dy, ThreadPool& pool) {
    const double whole_x = std::floor(dx), whole_y = std::floor(dy);
    whole_y_ = static_cast<int>(whole_y);
    const auto lateral = psf_taps(lateral_sigma, dx - whole_x), lateral2 = squared(lateral);
    axial_ = psf_taps(axial_sigma, dy - whole_y);
    axial2_ = squared(axial_);
    // An interface is about half as thick as the point spread function is long: it keeps its stated strength.
    specular_gain_ = 2 / (sum_of(lateral) * sum_of(axial_));
    std::array<Plane*, 4> in = {&re_, &im_, &power_, &specular_};
    pool.parallel_for(re_.height, 8, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y)
        for (std::size_t k = 0; k < 4; ++k)
          across(in[k]->row(y), across_[k].row(y), width_, static_cast<int>(whole_x),
                 k == 2 ? lateral2 : lateral);
    });
  }

  float down(Plane& plane, int x, int y, const Taps& taps) const {
    float sum = 0;
    for (int i = 0; i <= 2 * reach; ++i)
      sum += taps[static_cast<std::size_t>(i)] * plane.row(y + margin - whole_y_ + i - reach)[x];
    return sum;
  }

  void compress_row(int t, int y, bool want_clean, bool want_noisy) {
    // The receiver's noise: amplified with depth to make up for attenuation.
    const double depth = (y + 0.5) / height_;
    const double floor_power = portable::exp((-66 + 14 * depth) * 0.230258509299404568401799145468);
    for (int x = 0; x < width_; ++x) {
      const double mirror = static_cast<double>(down(across_[3], x, y, axial_)) * specular_gain_;
      if (want_clean) {
        const double scattered = static_cast<double>(down(across_[2], x, y, axial2_)) + floor_power;
        clean.row(y)[x] = static_cast<float>(to_level(mean_log_power(scattered, mirror * mirror)));
      }
      if (want_noisy) {
        const auto block = philox({static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                                   static_cast<std::uint32_t>(t), 0xfd},
                                  seed_);
        const auto n = portable::normal_pair(block[0], block[1]);
        const double half = std::sqrt(floor_power / 2);
        const double re = static_cast<double>(down(across_[0], x, y, axial_)) + mirror + half * n[0];
        const double im = static_cast<double>(down(across_[1], x, y, axial_)) + half * n[1];
        noisy.row(y)[x] = static_cast<float>(to_level(portable::log(re * re + im * im + 1e-30)));
      }
    }
  }

  int width_, height_;
  double aspect_;
  std::uint64_t seed_;
  bool drawn_ = false;
  Plane random_re_, random_im_;       ///< scatterers of unit power, fixed in the tissue
  Plane re_, im_, power_, specular_;  ///< echoes of the tissue, with margins
  std::array<Plane, 4> across_;       ///< the same after the lateral pass
  Taps axial_{}, axial2_{};
  double specular_gain_ = 1;
  int whole_y_ = 0;
};

void copy_clamped(Plane& from, const ImageView<float>& to, ThreadPool& pool) {
  pool.parallel_for(to.height, 32, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < to.width; ++x) to.row(y)[x] = std::clamp(from.row(y)[x], 0.f, 255.f);
  });
}

class Linear final : public Phantom {
 public:
  Linear(int width, int height, std::uint64_t seed)
      : Phantom(width, height), scan_(width, height, static_cast<double>(width) / height, seed) {}

  void render(int t, const PlanarGroup* clean, const PlanarGroup* noisy, ThreadPool& pool) override {
    scan_.scan(t, clean, noisy, pool);
    if (clean) copy_clamped(scan_.clean, clean->channel[0], pool);
    if (noisy) copy_clamped(scan_.noisy, noisy->channel[0], pool);
  }

 private:
  Scan scan_;
};

// Beams from a point above the picture, equally spaced in the sine of their angle, as a phased array steers.
class Sector final : public Phantom {
 public:
  Sector(int width, int height, std::uint64_t seed)
      : Phantom(width, height),
        lines_(std::max(16, width * 2 / 3)),
        samples_(std::max(16, height)),
        scan_(lines_, samples_, 1.2, seed) {}

  void render(int t, const PlanarGroup* clean, const PlanarGroup* noisy, ThreadPool& pool) override {
    scan_.scan(t, clean, noisy, pool);
    if (clean) convert(scan_.clean, clean->channel[0], pool);
    if (noisy) convert(scan_.noisy, noisy->channel[0], pool);
  }

 private:
  // Exactly 0 outside the sector, as consoles show it.
  void convert(Plane& from, const ImageView<float>& to, ThreadPool& pool) const {
    constexpr double apex = 0.12, max_sine = 0.62;  // radius of the probe's face over the depth; half opening
    const double scale = (1 + apex - apex * std::sqrt(1 - max_sine * max_sine)) / height();
    pool.parallel_for(height(), 16, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y)
        for (int x = 0; x < width(); ++x) {
          const double px = (x + 0.5 - width() / 2.0) * scale;
          const double py = (y + 0.5) * scale + apex * std::sqrt(1 - max_sine * max_sine);
          const double r = std::sqrt(px * px + py * py);
          const double line = (px / r / max_sine + 1) / 2 * (lines_ - 1),
                       sample = (r - apex) * (samples_ - 1);
          const bool seen = line >= 0 && line <= lines_ - 1 && sample >= 0 && sample <= samples_ - 1;
          to.row(y)[x] = seen ? interpolate(from, line, sample) : 0.f;
        }
    });
  }

  static float interpolate(Plane& from, double x, double y) {
    const int x0 = std::min(static_cast<int>(x), from.width - 2),
              y0 = std::min(static_cast<int>(y), from.height - 2);
    const auto fx = static_cast<float>(x - x0), fy = static_cast<float>(y - y0);
    auto at = [&](int i, int j) { return std::clamp(from.row(y0 + j)[x0 + i], 0.f, 255.f); };
    const float top = at(0, 0) + fx * (at(1, 0) - at(0, 0)), bottom = at(0, 1) + fx * (at(1, 1) - at(0, 1));
    return top + fy * (bottom - top);
  }

  int lines_, samples_;
  Scan scan_;
};

}  // namespace

std::unique_ptr<Phantom> make_ultrasound(int width, int height, bool sector, std::uint64_t seed) {
  if (sector) return std::make_unique<Sector>(width, height, seed);
  return std::make_unique<Linear>(width, height, seed);
}

}  // namespace quietframe::phantom
