// Measures of regions: contrast between two, and flatness of one.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "quality/metrics.hpp"

namespace quietframe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class F>
void for_each_sample(const ImageView<const float>& plane, const Rect& r, F&& f) {
  for (int y = r.y; y < r.y + r.height; ++y)
    for (int x = r.x; x < r.x + r.width; ++x) f(static_cast<double>(plane.row(y)[x]));
}

double count(const Rect& r) { return static_cast<double>(r.width) * r.height; }

using Histogram = std::array<double, 256>;

Histogram histogram(const ImageView<const float>& plane, const Rect& r, double low, double high) {
  Histogram h{};
  const double scale = high > low ? static_cast<double>(h.size()) / (high - low) : 0;
  for_each_sample(plane, r, [&](double v) {
    h[std::min(static_cast<std::size_t>((v - low) * scale), h.size() - 1)] += 1 / count(r);
  });
  return h;
}

}  // namespace

RegionStats region_stats(const ImageView<const float>& plane, const Rect& region) {
  double sum = 0, squares = 0;
  for_each_sample(plane, region, [&](double v) { sum += v; });
  const double mean = sum / count(region);
  for_each_sample(plane, region, [&](double v) { squares += (v - mean) * (v - mean); });
  return {mean, squares / count(region)};
}

double cnr(const RegionStats& a, const RegionStats& b) {
  const double difference = std::abs(a.mean - b.mean), noise = std::sqrt(a.variance + b.variance);
  if (noise > 0) return difference / noise;
  return difference > 0 ? infinity : 0;
}

double gcnr(const ImageView<const float>& plane, const Rect& a, const Rect& b) {
  double low = infinity, high = -infinity;
  for (const auto& r : {a, b})
    for_each_sample(plane, r, [&](double v) {
      low = std::min(low, v);
      high = std::max(high, v);
    });
  const auto ha = histogram(plane, a, low, high), hb = histogram(plane, b, low, high);
  double overlap = 0;
  for (std::size_t i = 0; i < ha.size(); ++i) overlap += std::min(ha[i], hb[i]);
  return std::clamp(1 - overlap, 0.0, 1.0);
}

double enl(const RegionStats& region) {
  return region.variance > 0 ? region.mean * region.mean / region.variance : infinity;
}

}  // namespace quietframe
