// The gaussian filter in vectors: each row's column sums go to a line that stays in cache, and from there to
// the output, in one pass.
#include <algorithm>

#include "filters/gaussian/params.hpp"
#include "simd/targets.hpp"
#include "thread_pool.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters/gaussian/cpu_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quietframe::gaussian {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out[x] = the weighted sum of at[i][x], i = -r .. r (at points to the middle). Rows may be read and written
// up to the next multiple of 64 bytes.
HWY_NOINLINE void weigh(const float* const* at, int width, const float* taps, int r, float* out) {
  const hn::ScalableTag<float> d;
  for (int x = 0; x < width; x += static_cast<int>(hn::Lanes(d))) {
    auto sum = hn::Mul(hn::LoadU(d, at[0] + x), hn::Set(d, taps[0]));
    for (int i = 1; i <= r; ++i)
      sum = hn::MulAdd(hn::Add(hn::LoadU(d, at[-i] + x), hn::LoadU(d, at[i] + x)), hn::Set(d, taps[i]), sum);
    hn::StoreU(sum, d, out + x);
  }
}

// One output row; `line` has room for the width, the radius on both sides and a vector.
void blur_row(const ImageView<float>& in, int y, const float* taps, int r, float* line, float* out) {
  const float* rows[2 * max_radius + 1];
  for (int i = -r; i <= r; ++i) rows[i + r] = in.row(std::clamp(y + i, 0, in.height - 1));
  float* middle = line + max_radius + 2;  // 32 floats: aligned
  weigh(rows + r, in.width, taps, r, middle);
  std::fill(middle - r, middle, middle[0]);
  std::fill(middle + in.width, middle + in.width + r, middle[in.width - 1]);
  for (int i = -r; i <= r; ++i) rows[i + r] = middle + i;
  weigh(rows + r, in.width, taps, r, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::gaussian
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quietframe::gaussian {
namespace {

HWY_EXPORT(blur_row);

}  // namespace

void run_simd(CpuJob& job, const Params& p) {
  float taps[max_radius + 1];
  const int r = fill_taps(p, taps);
  const std::size_t line = (static_cast<std::size_t>(job.in.width()) + 2 * max_radius + 64) / 16 * 16;
  float* lines = job.scratch.floats(0, line * static_cast<std::size_t>(job.pool.lanes()));
  for (int c = 0; c < job.in.channels; ++c)
    job.pool.parallel_for(job.in.height(), 16, [&](int begin, int end, int lane) {
      for (int y = begin; y < end; ++y) HWY_DYNAMIC_DISPATCH(blur_row)
      (job.in.channel[c], y, taps, r, lines + line * static_cast<std::size_t>(lane),
       job.out.channel[c].row(y));
    });
}

}  // namespace quietframe::gaussian
#endif
