// Chooses the phantom.
#include "phantom/phantom.hpp"

#include <cmath>

#include "phantom/scenes.hpp"

namespace quietframe {

std::unique_ptr<Phantom> make_phantom(const PhantomParams& params, int width, int height,
                                      std::uint64_t seed) {
  const double noise = static_cast<double>(params.noise);
  switch (params.kind) {
    case PhantomKind::target:
      return phantom::make_target(width, height, noise, seed);
    case PhantomKind::brain:
      return phantom::make_brain(width, height, noise, seed);
    default:
      return phantom::make_ultrasound(width, height, params.kind == PhantomKind::sector, seed);
  }
}

namespace phantom {

double inside_ellipse(double x, double y, double cx, double cy, double rx, double ry) {
  const double u = (x - cx) / rx, v = (y - cy) / ry, r = std::sqrt(u * u + v * v);
  // Distance = (1 - r) / |grad r|, the gradient of r being (u/rx, v/ry) / r.
  const double gx = u / rx, gy = v / ry, gradient = std::sqrt(gx * gx + gy * gy);
  return gradient > 0 ? (1 - r) * r / gradient : std::min(rx, ry);
}

}  // namespace phantom
}  // namespace quietframe
