// Layers, masses, cysts, wires and a vessel, as in the quality phantoms that ultrasound machines are checked
// with.
#include "phantom/tissue.hpp"

#include <cmath>

#include "noise/portable_math.hpp"
#include "phantom/scenes.hpp"

namespace quietframe::phantom {
namespace {

constexpr double none = -200, anechoic = -85;

// A smooth interface along y = f(x): as wide as a sample, and tapered.
double interface_db(double distance, double pixel, double db) {
  const double d = std::abs(distance) / pixel;
  return d > 2.5 ? none : db - 4 * d * d;
}

double wave(double x, double cycles, double phase) { return portable::cos_sin(x * cycles + phase).sin; }

}  // namespace

Echo tissue_echo(double x, double y, double aspect, double beat, double pixel) {
  const double px = x * aspect, skin = 0.035, fat = 0.14 + 0.012 * wave(x, 1.3, 0.1),
               fascia = 0.30 + 0.02 * wave(x, 0.8, 0.55), capsule = 0.93 + 0.03 * wave(x, 0.7, 0.3);
  Echo e{-31, none};
  if (y < skin) {
    e.scatter_db = -14;
  } else if (y < fat) {
    e.scatter_db = -36 + 5 * wave(y + 0.02 * wave(x, 2, 0), 40, 0.2);
  } else if (y < fascia) {
    e.scatter_db = -33 + 8 * wave(y + 0.05 * x, 60, 0);  // muscle fibres
  } else if (y > capsule) {
    e.scatter_db = -46;
  }
  for (const double layer : {skin, fat, fascia})
    e.specular_db = std::max(e.specular_db, interface_db(y - layer, pixel, -19));
  e.specular_db = std::max(e.specular_db, interface_db(y - capsule, pixel, -9));

  auto inside = [&](double cx, double cy, double r) {
    return inside_ellipse(px, y, cx * aspect, cy, r, r) / pixel;
  };
  auto mass = [&](double cx, double cy, double r, double db) {
    e.scatter_db = blend(e.scatter_db, db, coverage(inside(cx, cy, r)));
    if (inside(cx, cy, r) > 0) e.specular_db = none;
  };
  mass(0.22, 0.45, 0.050, anechoic);
  mass(0.22, 0.62, 0.036, anechoic);
  mass(0.22, 0.77, 0.024, anechoic);
  mass(0.50, 0.42, 0.045, -21);
  mass(0.50, 0.58, 0.045, -26);
  mass(0.50, 0.74, 0.045, -38);
  for (int i = 0; i < 5; ++i)  // wires, a sample wide
    if (std::abs(px - (0.66 + 0.03 * (i % 2)) * aspect) < 1.2 * pixel &&
        std::abs(y - 0.38 - 0.12 * i) < 1.2 * pixel)
      e.specular_db = -4;
  const double vessel =
      inside_ellipse(px, y, 0.84 * aspect, 0.56, 0.07 * (1 + 0.09 * beat), 0.07 * (1 + 0.09 * beat));
  e.scatter_db = blend(e.scatter_db, -62, coverage(vessel / pixel));
  e.specular_db = std::max(e.specular_db, interface_db(vessel, pixel, -17));
  // Sound behind a cyst was attenuated less: posterior enhancement.
  if (std::abs(x - 0.22) < 0.03 && y > 0.5 && y < capsule && e.scatter_db > -60) e.scatter_db += 3;
  return e;
}

}  // namespace quietframe::phantom
