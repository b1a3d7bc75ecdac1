// MSE, PSNR and SSIM: sums in double, row by row, so that the order of addition never depends on threads.
#include "quality/metrics.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "thread_pool.hpp"

namespace quietframe {

double mse(const ImageView<const float>& a, const ImageView<const float>& b, ThreadPool& pool) {
  std::vector<double> rows(static_cast<std::size_t>(a.height));
  pool.parallel_for(a.height, 32, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      const float *p = a.row(y), *q = b.row(y);
      double sum = 0;
      for (int x = 0; x < a.width; ++x) {
        const double d = static_cast<double>(p[x]) - static_cast<double>(q[x]);
        sum += d * d;
      }
      rows[static_cast<std::size_t>(y)] = sum;
    }
  });
  return std::accumulate(rows.begin(), rows.end(), 0.0) / (static_cast<double>(a.width) * a.height);
}

double psnr(double mse, double data_range) {
  return mse > 0 ? 10 * std::log10(data_range * data_range / mse) : std::numeric_limits<double>::infinity();
}

namespace {

// Sums over a column of 7 samples, or over the 7x7 window, of what SSIM needs.
struct Sums {
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;

  void add(double p, double q) {
    a += p;
    b += q;
    aa += p * p;
    bb += q * q;
    ab += p * q;
  }
  void add(const Sums& s) {
    a += s.a;
    b += s.b;
    aa += s.aa;
    bb += s.bb;
    ab += s.ab;
  }
};

// Equation 13 of Wang et al. for one window.
double similarity(const Sums& w, double data_range) {
  constexpr double n = ssim_window * ssim_window, unbias = n / (n - 1);
  const double c1 = 0.01 * data_range * (0.01 * data_range), c2 = 0.03 * data_range * (0.03 * data_range);
  const double ma = w.a / n, mb = w.b / n;
  const double va = unbias * (w.aa / n - ma * ma), vb = unbias * (w.bb / n - mb * mb);
  const double covariance = unbias * (w.ab / n - ma * mb);
  return (2 * ma * mb + c1) * (2 * covariance + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

}  // namespace

double ssim(const ImageView<const float>& a, const ImageView<const float>& b, double data_range,
            ThreadPool& pool) {
  const int w = a.width - ssim_window + 1, h = a.height - ssim_window + 1;
  if (w < 1 || h < 1) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> rows(static_cast<std::size_t>(h));
  pool.parallel_for(h, 16, [&](int begin, int end, int) {
    std::vector<Sums> columns(static_cast<std::size_t>(a.width));
    for (int y = begin; y < end; ++y) {
      std::fill(columns.begin(), columns.end(), Sums{});
      for (int j = 0; j < ssim_window; ++j) {
        const float *p = a.row(y + j), *q = b.row(y + j);
        for (int x = 0; x < a.width; ++x)
          columns[static_cast<std::size_t>(x)].add(static_cast<double>(p[x]), static_cast<double>(q[x]));
      }
      double sum = 0;
      for (int x = 0; x < w; ++x) {
        Sums window;
        for (int i = 0; i < ssim_window; ++i)
          window.add(columns[static_cast<std::size_t>(x) + static_cast<std::size_t>(i)]);
        sum += similarity(window, data_range);
      }
      rows[static_cast<std::size_t>(y)] = sum;
    }
  });
  return std::accumulate(rows.begin(), rows.end(), 0.0) / (static_cast<double>(w) * h);
}

}  // namespace quietframe
