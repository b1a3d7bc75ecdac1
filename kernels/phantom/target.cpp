// The colour test target: twelve cells that each try one thing a denoiser may spoil.
#include <array>
#include <cmath>

#include "noise/models.hpp"
#include "noise/portable_math.hpp"
#include "phantom/scenes.hpp"
#include "thread_pool.hpp"

namespace quietframe::phantom {
namespace {

using Colour = std::array<double, 3>;

constexpr Colour gray(double v) { return {v, v, v}; }

// cos(2 pi k angle) of the direction (x, y), by repeated complex multiplication: no atan2.
double cosine_of_multiple(double x, double y, int k) {
  const double r = std::sqrt(x * x + y * y);
  if (r == 0) return 1;
  const double c = x / r, s = y / r;
  double re = 1, im = 0;
  for (int i = 0; i < k; ++i) {
    const double t = re * c - im * s;
    im = re * s + im * c;
    re = t;
  }
  return re;
}

// A cell's own coordinates are -1..1 in both directions; `pixels` are the pixels of half the cell's lesser
// side.
Colour star(double x, double y, double pixels) {
  const double r = std::sqrt(x * x + y * y);
  // Fades to gray where the 36 spokes are finer than two pixels.
  const double wave = cosine_of_multiple(x, y, 18), sharp = std::max(r * pixels / 18, 0.5);
  const double fade = std::clamp(r * pixels / 12 - 0.6, 0.0, 1.0);
  const double spokes = 128 + 100 * fade * std::clamp(wave * sharp, -1.0, 1.0);
  return gray(blend(90, spokes, coverage((0.92 - r) * pixels)));
}

Colour zone_plate(double x, double y, double pixels) {
  // Finest at the rim: a quarter of a cycle a pixel.
  const double q = x * x + y * y;
  return gray(q > 1 ? 128 : 128 + 90 * portable::cos_sin(q * pixels / 8).cos);
}

Colour ramp(double x, double y, double) {
  return gray(y < 0 ? 127.5 + 115 * x : std::floor((x + 1) * 5.5) * 23 + 8);
}

Colour bars(double x, double y, double pixels) {
  const int row = std::clamp(static_cast<int>((y + 1) * 2), 0, 3);
  const int period = 2 << row;
  const auto column = static_cast<long>(std::floor((x + 1) * pixels));
  return gray(column / (period / 2) % 2 == 0 ? 60 : 190);
}

Colour faint_discs(double x, double y, double pixels) {
  double v = 110;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i)
      v += (4 + 5 * i) *
           coverage(inside_ellipse(x, y, -0.72 + 0.48 * i, -0.62 + 0.62 * j, 0.2 - 0.06 * j, 0.2 - 0.06 * j) *
                    pixels);
  return gray(v);
}

Colour patches(double x, double y, double) {
  constexpr std::array<Colour, 12> colours = {{{196, 62, 58},
                                               {70, 148, 73},
                                               {56, 61, 150},
                                               {231, 199, 31},
                                               {187, 86, 149},
                                               {8, 133, 161},
                                               {243, 243, 242},
                                               {160, 160, 160},
                                               {85, 85, 85},
                                               {115, 82, 68},
                                               {194, 150, 130},
                                               {98, 122, 157}}};
  const int i = std::clamp(static_cast<int>((x + 1) * 2), 0, 3),
            j = std::clamp(static_cast<int>((y + 1) * 1.5), 0, 2);
  return colours[static_cast<std::size_t>(j * 4 + i)];
}

Colour checks(double x, double y, double pixels) {
  const auto i = static_cast<long>(std::floor((x + 1) * pixels / 6)),
             j = static_cast<long>(std::floor((y + 1) * pixels / 6));
  return (i + j) % 2 == 0 ? Colour{210, 205, 190} : Colour{40, 45, 60};
}

Colour slanted_edge(double x, double y, double pixels) {
  return gray(blend(45, 210, coverage((x + 0.0875 * y) * pixels)));
}

Colour rings(double x, double y, double pixels) {
  double v = 30;
  for (int i = 0; i < 6; ++i) {
    const double r = 0.9 - 0.15 * i;
    v = blend(v, i % 2 == 0 ? 30 + 32 * (i + 2) : 30, coverage(inside_ellipse(x, y, 0, 0, r, r) * pixels));
  }
  return gray(v);
}

Colour lines(double x, double y, double pixels) {
  double v = 70;
  for (int i = 0; i < 6; ++i) {
    const double distance = std::abs(y - 0.3 * x * (i - 2.5) / 2.5 - (-0.75 + 0.3 * i)) * pixels;
    v = blend(v, 200, coverage(0.5 * (i + 1) / 2.0 - distance));
  }
  return gray(v);
}

Colour hues(double x, double y, double) {
  const double third = 1.0 / 3, angle = (x + 1) / 2, bright = 150 - 70 * y;
  Colour c{};
  for (std::size_t i = 0; i < 3; ++i)
    c[i] = bright * (0.6 + 0.4 * portable::cos_sin(angle - third * static_cast<double>(i)).cos);
  return c;
}

Colour weave(double x, double y, double pixels) {
  const double f = pixels / 10;
  return {125 + 45 * portable::cos_sin(f * (x + y)).sin, 105 + 35 * portable::cos_sin(f * (x - y)).sin, 85};
}

using Cell = Colour (*)(double, double, double);
constexpr int columns = 4, rows = 3;
constexpr Cell cells[rows][columns] = {{star, patches, ramp, zone_plate},
                                       {bars, faint_discs, hues, checks},
                                       {slanted_edge, rings, lines, weave}};

class Target final : public Phantom {
 public:
  Target(int width, int height, double noise, std::uint64_t seed)
      : Phantom(width, height), noise_(noise), seed_(seed) {}

  int channels() const override { return 3; }

  void render(int t, const PlanarGroup* clean, const PlanarGroup* noisy, ThreadPool& pool) override {
    const PlanarGroup* picture = clean ? clean : noisy;
    if (!picture) return;
    pool.parallel_for(height(), 16, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y)
        for (int x = 0; x < width(); ++x) {
          const auto colour = at(x + 0.5, y + 0.5);
          for (int c = 0; c < 3; ++c)
            picture->channel[static_cast<std::size_t>(c)].row(y)[x] =
                static_cast<float>(colour[static_cast<std::size_t>(c)]);
        }
    });
    if (!noisy) return;
    const NoiseParams gaussian{NoiseModel::gaussian, static_cast<float>(noise_)};
    for (std::uint32_t c = 0; c < 3; ++c)
      add_noise(as_const(picture->channel[c]), noisy->channel[c], gaussian,
                {seed_, static_cast<std::uint32_t>(t), c}, pool);
  }

 private:
  Colour at(double px, double py) const {
    const double w = static_cast<double>(width()) / columns, h = static_cast<double>(height()) / rows;
    const int i = std::min(static_cast<int>(px / w), columns - 1),
              j = std::min(static_cast<int>(py / h), rows - 1);
    const double pixels = std::min(w, h) / 2;
    const double dx = px - (i + 0.5) * w, dy = py - (j + 0.5) * h;
    return cells[j][i](std::clamp(dx / pixels, -1.0, 1.0), std::clamp(dy / pixels, -1.0, 1.0), pixels);
  }

  double noise_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Phantom> make_target(int width, int height, double noise, std::uint64_t seed) {
  return std::make_unique<Target>(width, height, noise, seed);
}

}  // namespace quietframe::phantom
