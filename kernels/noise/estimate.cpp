// The shared noise estimate on the CPU: HH of one bior4.4 step, and the exact median of its magnitudes.
#include "noise/estimate.hpp"

#include "filters/wavelet/transform.hpp"
#include "noise/median.hpp"

namespace quietframe {

float estimate_sigma(const ImageView<const float>& plane, ThreadPool& pool, Scratch& scratch,
                     std::size_t first_buffer) {
  const auto& bank = wavelet::bior44;
  const int w = wavelet::coefficients(plane.width, bank.taps),
            h = wavelet::coefficients(plane.height, bank.taps);
  const auto hh = scratch.plane(first_buffer, w, h);
  float* lines = scratch.floats(first_buffer + 1, wavelet::line_floats(plane.width, pool));
  AbsMedian median(pool, scratch, first_buffer + 2,
                   static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
  wavelet::analyse(bank, plane, {{}, {}, {}, hh}, pool, lines, &median);
  return mad_to_sigma(median.median(as_const(hh)));
}

}  // namespace quietframe
