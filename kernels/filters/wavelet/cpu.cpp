// The definition of the wavelet filter: levels of analysis, the noise from the finest HH, and the levels back
// with thresholds.
#include <array>

#include "filters/wavelet/transform.hpp"
#include "noise/median.hpp"
#include "params.hpp"
#include "thread_pool.hpp"

namespace quietframe::wavelet {
namespace {

enum Buffer : std::size_t { lines_buffer, median_buffer, level_buffer = median_buffer + AbsMedian::buffers };

Subbands subbands_of(Scratch& scratch, int level, int width, int height) {
  const auto first = level_buffer + 4 * static_cast<std::size_t>(level);
  return {scratch.plane(first, width, height), scratch.plane(first + 1, width, height),
          scratch.plane(first + 2, width, height), scratch.plane(first + 3, width, height)};
}

}  // namespace

void run_cpu(CpuJob& job, const Params& given) {
  const Params p = resolved(given);
  const Bank& bank = bank_of(p.basis);
  std::array<Subbands, max_levels> level;
  int w = job.in.width(), h = job.in.height(), widest = w;
  for (int l = 0; l < p.levels; ++l) {
    w = coefficients(w, bank.taps);
    h = coefficients(h, bank.taps);
    level[l] = subbands_of(job.scratch, l, w, h);
    widest = std::max(widest, w);  // a plane smaller than the filter grows
  }
  float* lines = job.scratch.floats(lines_buffer, line_floats(widest, job.pool));
  const auto& finest = level[0].hh;
  for (int c = 0; c < job.in.channels; ++c) {
    const bool estimate = job.sigma[c] < 0.f;
    AbsMedian median(
        job.pool, job.scratch, median_buffer,
        estimate ? static_cast<std::size_t>(finest.width) * static_cast<std::size_t>(finest.height) : 0);
    for (int l = 0; l < p.levels; ++l)
      analyse(bank, as_const(l == 0 ? job.in.channel[c] : level[l - 1].ll), level[l], job.pool, lines,
              estimate && l == 0 ? &median : nullptr);
    if (estimate) job.sigma[c] = mad_to_sigma(median.median(as_const(finest)));
    for (int l = p.levels - 1; l >= 0; --l) {
      const float scale = level_alpha(p, l) * job.sigma[c];
      const Thresholds thresholds{p.threshold, p.beta_lh * scale, p.beta_hl * scale, p.beta_hh * scale};
      synthesise(bank, level[l], thresholds, l == 0 ? job.out.channel[c] : level[l - 1].ll, job.pool, lines);
    }
  }
}

}  // namespace quietframe::wavelet
