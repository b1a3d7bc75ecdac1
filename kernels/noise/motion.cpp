// Rigid movement of a picture by cubic interpolation.
#include <algorithm>
#include <array>
#include <cmath>

#include "noise/models.hpp"
#include "noise/philox.hpp"
#include "noise/portable_math.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

// Catmull-Rom weights of the samples at -1, 0, 1, 2 for a point at 0 <= f < 1.
std::array<double, 4> cubic_weights(double f) {
  return {f * (f * (2 - f) - 1) / 2, (f * f * (3 * f - 5) + 2) / 2, f * (f * (4 - 3 * f) + 1) / 2,
          f * f * (f - 1) / 2};
}

float sample_at(const ImageView<const float>& in, double x, double y) {
  const double fx = std::floor(x), fy = std::floor(y);
  const auto wx = cubic_weights(x - fx), wy = cubic_weights(y - fy);
  // Far outside, every sample is the border's: clamping before the conversion keeps it in range.
  const int x0 = static_cast<int>(std::clamp(fx, -4.0, in.width + 4.0));
  const int y0 = static_cast<int>(std::clamp(fy, -4.0, in.height + 4.0));
  double sum = 0;
  for (int j = 0; j < 4; ++j) {
    const float* row = in.row(std::clamp(y0 + j - 1, 0, in.height - 1));
    double across = 0;
    for (int i = 0; i < 4; ++i)
      across +=
          wx[static_cast<std::size_t>(i)] * static_cast<double>(row[std::clamp(x0 + i - 1, 0, in.width - 1)]);
    sum += wy[static_cast<std::size_t>(j)] * across;
  }
  return static_cast<float>(sum);
}

}  // namespace

RigidMotion random_motion(double max_shift, double max_degrees, std::uint64_t seed, std::uint32_t frame) {
  // Channel 0xff of the noise streams, which no picture has.
  const auto block = philox({0, 0, frame, 0xff}, seed);
  auto symmetric = [&](int i) { return 2 * uniform(block[static_cast<std::size_t>(i)]) - 1; };
  return {symmetric(0) * max_shift, symmetric(1) * max_shift, symmetric(2) * max_degrees};
}

void move_rigidly(const ImageView<const float>& in, const ImageView<float>& out, const RigidMotion& motion,
                  ThreadPool& pool) {
  const auto turn = portable::cos_sin(motion.degrees / 360);
  const double cx = (in.width - 1) / 2.0, cy = (in.height - 1) / 2.0;
  pool.parallel_for(in.height, 16, [&](int begin, int end, int) {
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < in.width; ++x) {
        // Where the sample that lands here came from.
        const double dx = x - motion.shift_x - cx, dy = y - motion.shift_y - cy;
        out.row(y)[x] = sample_at(in, cx + turn.cos * dx + turn.sin * dy, cy - turn.sin * dx + turn.cos * dy);
      }
  });
}

}  // namespace quietframe
