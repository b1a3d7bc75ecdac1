// The phantoms' makers and the few tools they share.
#pragma once
#include <algorithm>
#include <memory>

#include "phantom/phantom.hpp"

namespace quietframe::phantom {

std::unique_ptr<Phantom> make_target(int width, int height, double noise, std::uint64_t seed);
std::unique_ptr<Phantom> make_brain(int width, int height, double noise, std::uint64_t seed);
std::unique_ptr<Phantom> make_ultrasound(int width, int height, bool sector, std::uint64_t seed);

/// How much of a pixel lies inside an edge at signed distance `inside` (positive: inside), in pixels.
inline double coverage(double inside) { return std::clamp(inside + 0.5, 0.0, 1.0); }

inline double blend(double below, double above, double cover) { return below + cover * (above - below); }

/// Signed distance from (x, y) to the edge of an axis-parallel ellipse, positive inside; exact at the edge to
/// first order.
double inside_ellipse(double x, double y, double cx, double cy, double rx, double ry);

}  // namespace quietframe::phantom
