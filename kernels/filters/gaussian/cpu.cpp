// The definition of the gaussian filter: rows, then columns, in the order of the taps.
#include <algorithm>

#include "params.hpp"
#include "thread_pool.hpp"

namespace quietframe::gaussian {
namespace {

// Border samples are laid out in `line` once, so that the loop over taps has no clamp and vectorises.
void blur_row(const float* in, float* out, float* line, int width, const float* taps, int r) {
  for (int i = 0; i < r; ++i) line[i] = in[0];
  std::copy(in, in + width, line + r);
  for (int i = 0; i < r; ++i) line[r + width + i] = in[width - 1];
  const float* c = line + r;
  for (int x = 0; x < width; ++x) out[x] = taps[0] * c[x];
  for (int i = 1; i <= r; ++i)
    for (int x = 0; x < width; ++x)  // vectorised
      out[x] += taps[i] * (c[x - i] + c[x + i]);
}

void blur_column_row(const ImageView<float>& in, float* out, int y, const float* taps, int r) {
  const float* c = in.row(y);
  for (int x = 0; x < in.width; ++x) out[x] = taps[0] * c[x];
  for (int i = 1; i <= r; ++i) {
    const float* a = in.row(std::max(y - i, 0));
    const float* b = in.row(std::min(y + i, in.height - 1));
    for (int x = 0; x < in.width; ++x)  // vectorised
      out[x] += taps[i] * (a[x] + b[x]);
  }
}

}  // namespace

void run_cpu(CpuJob& job, const Params& p) {
  float taps[max_radius + 1];
  const int r = fill_taps(p, taps);
  const int w = job.in.width(), h = job.in.height();
  const auto across = job.scratch.plane(0, w, h);
  const std::size_t line = static_cast<std::size_t>(w) + 2 * max_radius + 16;
  float* lines = job.scratch.floats(1, line * static_cast<std::size_t>(job.pool.lanes()));
  for (int c = 0; c < job.in.channels; ++c) {
    const auto in = job.in.channel[c];
    const auto out = job.out.channel[c];
    job.pool.parallel_for(h, 32, [&](int begin, int end, int lane) {
      for (int y = begin; y < end; ++y) blur_row(in.row(y), across.row(y), lines + line * lane, w, taps, r);
    });
    job.pool.parallel_for(h, 32, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) blur_column_row(across, out.row(y), y, taps, r);
    });
  }
}

}  // namespace quietframe::gaussian
