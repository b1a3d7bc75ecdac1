// The definition of the bilateral filter: every pixel of the window, weighted by distance and by difference.
#include <algorithm>
#include <array>

#include "params.hpp"
#include "thread_pool.hpp"

namespace quietframe::bilateral {
namespace {

// Sums differences from the pixel itself, so that a constant comes back exactly.
void filter_pixel(const CpuJob& job, int x, int y, int r, float space, float range) {
  const auto& in = job.in;
  std::array<float, max_channels> sum{};
  float weights = 0.f;
  for (int j = -r; j <= r; ++j)
    for (int i = -r; i <= r; ++i) {
      const int qx = std::clamp(x + i, 0, in.width() - 1), qy = std::clamp(y + j, 0, in.height() - 1);
      std::array<float, max_channels> difference{};
      float squares = 0.f;
      for (int c = 0; c < in.channels; ++c) {
        difference[c] = in.channel[c].row(qy)[qx] - in.channel[c].row(y)[x];
        squares += difference[c] * difference[c];
      }
      const float w = std::exp(-static_cast<float>(i * i + j * j) * space - squares * range);
      weights += w;
      for (int c = 0; c < in.channels; ++c) sum[c] += w * difference[c];
    }
  for (int c = 0; c < in.channels; ++c)
    job.out.channel[c].row(y)[x] = in.channel[c].row(y)[x] + sum[c] / weights;
}

}  // namespace

void run_cpu(CpuJob& job, const Params& p) {
  const float ss = p.sigma_space,
              sr = quietframe::bilateral::range(p, joint_sigma(job.sigma.data(), job.in.channels));
  const float space = 0.5f / (ss * ss), range = 0.5f / (sr * sr);
  job.pool.parallel_for(job.in.height(), 4, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < job.in.width(); ++x) filter_pixel(job, x, y, radius(p), space, range);
  });
}

}  // namespace quietframe::bilateral
