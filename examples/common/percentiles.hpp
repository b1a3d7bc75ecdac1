// Percentiles of measured times.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace quietframe::examples {

/// Times in microseconds, in the order they were measured.
class Times {
 public:
  void add(double us) { us_.push_back(us); }
  std::size_t count() const { return us_.size(); }
  const std::vector<double>& all() const { return us_; }

  /// The smallest time that at least `percent` of all are not above (nearest rank); NaN of nothing.
  double percentile(double percent) const {
    if (us_.empty()) return std::nan("");
    std::vector<double> sorted = us_;
    const auto n = static_cast<double>(sorted.size());
    const auto rank = static_cast<std::ptrdiff_t>(std::clamp(std::ceil(percent / 100 * n), 1.0, n)) - 1;
    std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
    return sorted[static_cast<std::size_t>(rank)];
  }
  double max() const { return percentile(100); }

 private:
  std::vector<double> us_;
};

}  // namespace quietframe::examples
