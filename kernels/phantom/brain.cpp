// A brain slice after Shepp & Logan (1974), with the contrasts of T1-weighted MRI, a folded cortex, and
// ventricles that pulse with the heart.
#include <array>
#include <cmath>

#include "noise/models.hpp"
#include "noise/portable_math.hpp"
#include "phantom/scenes.hpp"
#include "thread_pool.hpp"

namespace quietframe::phantom {
namespace {

// Levels of the tissues in a T1-weighted picture.
constexpr double air = 2, scalp = 190, bone = 22, fluid = 38, gray_matter = 112, white_matter = 168,
                 deep_gray = 128, lesion = 88;

// The folded outer edge of the white matter, as a share of the radius: harmonics of the angle with fixed
// phases.
double folds(double x, double y) {
  struct Harmonic {
    int order;
    double size, phase;
  };
  constexpr std::array<Harmonic, 5> harmonics = {
      {{7, 0.012, 0.1}, {13, 0.020, 0.35}, {19, 0.024, 0.8}, {29, 0.020, 0.55}, {37, 0.010, 0.2}}};
  const double r = std::sqrt(x * x + y * y);
  if (r == 0) return 0;
  const double c = x / r, s = y / r;
  double re = 1, im = 0, sum = 0;
  int order = 0;
  for (const auto& h : harmonics) {
    for (; order < h.order; ++order) {
      const double next = re * c - im * s;
      im = re * s + im * c;
      re = next;
    }
    const auto phase = portable::cos_sin(h.phase);
    sum += h.size * (re * phase.cos - im * phase.sin);
  }
  return sum;
}

class Brain final : public Phantom {
 public:
  Brain(int width, int height, double noise, std::uint64_t seed)
      : Phantom(width, height), noise_(noise), seed_(seed), pixels_(std::min(width, height) / 2.0) {}

  void render(int t, const PlanarGroup* clean, const PlanarGroup* noisy, ThreadPool& pool) override {
    const PlanarGroup* picture = clean ? clean : noisy;
    if (!picture) return;
    // 72 beats a minute at 30 frames a second: 25 frames a beat.
    const double beat = portable::cos_sin(t / 25.0).sin;
    pool.parallel_for(height(), 16, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y)
        for (int x = 0; x < width(); ++x)
          picture->channel[0].row(y)[x] = static_cast<float>(
              at((x + 0.5 - width() / 2.0) / pixels_, (y + 0.5 - height() / 2.0) / pixels_, beat));
    });
    if (noisy)
      add_noise(as_const(picture->channel[0]), noisy->channel[0],
                {NoiseModel::rician, static_cast<float>(noise_)}, {seed_, static_cast<std::uint32_t>(t), 0},
                pool);
  }

 private:
  void paint(double& level, double tissue, double inside) const {
    level = blend(level, tissue, coverage(inside * pixels_));
  }

  // Ellipse leaning by (c, s) = cosine and sine.
  static double inside_tilted(double x, double y, double cx, double cy, double rx, double ry, double c,
                              double s) {
    const double dx = x - cx, dy = y - cy;
    return inside_ellipse(c * dx + s * dy, c * dy - s * dx, 0, 0, rx, ry);
  }

  double at(double x, double y, double beat) const {
    double v = air;
    paint(v, scalp, inside_ellipse(x, y, 0, 0, 0.74, 0.94));
    paint(v, bone, inside_ellipse(x, y, 0, 0, 0.69, 0.89));
    paint(v, fluid, inside_ellipse(x, y, 0, 0, 0.645, 0.845));
    const double fold = folds(x / 0.62, y / 0.82), cortex = inside_ellipse(x, y, 0, 0, 0.62, 0.82);
    paint(v, gray_matter, cortex + 0.4 * fold);
    paint(v, fluid, 0.006 + 0.5 * fold - std::abs(cortex - 0.018));  // sulci between the folds
    paint(v, white_matter, std::min(cortex - 0.03, cortex - 0.085 + 1.7 * fold));
    // The fissure between the halves, broken by the corpus callosum.
    paint(v, fluid, std::min({0.008 - std::abs(x), std::abs(y) - 0.3, cortex}));
    for (const double side : {-1.0, 1.0}) {
      paint(v, deep_gray, inside_tilted(x, y, side * 0.2, 0.06, 0.075, 0.15, 0.94, side * 0.34));
      paint(v, deep_gray, inside_ellipse(x, y, side * 0.075, 0.14, 0.055, 0.09));
      const double grow = 1 + 0.07 * beat;
      paint(v, fluid, inside_tilted(x, y, side * 0.1, -0.15, 0.045 * grow, 0.19 * grow, 0.96, -side * 0.28));
      paint(v, fluid, inside_tilted(x, y, side * 0.16, 0.36, 0.04 * grow, 0.13 * grow, 0.94, side * 0.34));
    }
    paint(v, fluid, inside_ellipse(x, y, 0, 0.12, 0.012 * (1 + 0.15 * beat), 0.09));
    paint(v, lesion, inside_ellipse(x, y, 0.33, -0.3, 0.06, 0.05));
    for (int i = 0; i < 4; ++i)  // small lesions of falling contrast, as in Shepp & Logan's row of dots
      paint(v, white_matter - 12 * (i + 1),
            inside_ellipse(x, y, -0.36 + 0.05 * i, -0.34 - 0.05 * i, 0.018, 0.018));
    return v;
  }

  double noise_;
  std::uint64_t seed_;
  double pixels_;
};

}  // namespace

std::unique_ptr<Phantom> make_brain(int width, int height, double noise, std::uint64_t seed) {
  return std::make_unique<Brain>(width, height, noise, seed);
}

}  // namespace quietframe::phantom
