// Enqueues the wavelet filter: the schedule that is asked for, and the levels of the fused one.
#include <algorithm>

#include "cuda/launch.cuh"
#include "filters/wavelet/fused_cuda.hpp"
#include "filters/wavelet/stages_cuda.hpp"
#include "filters/wavelet/subband_cuda.hpp"
#include "params.hpp"

namespace quietframe::wavelet {
namespace {

struct Size {
  int width, height;
};
Size next_level(Size s, int taps) { return {coefficients(s.width, taps), coefficients(s.height, taps)}; }

std::size_t row_bytes(int width) { return (static_cast<std::size_t>(width) * 4 + 255) / 256 * 256; }

/// f32 planes of one level, a channel each, at `at`; advances it.
GroupView level_planes(std::byte*& at, Size s, int channels) {
  GroupView v;
  v.channels = channels;
  v.step = 4;
  v.width = s.width;
  v.height = s.height;
  v.type = SampleType::f32;
  for (int c = 0; c < channels; ++c) {
    v.channel[c] = at;
    v.stride[c] = static_cast<std::ptrdiff_t>(row_bytes(s.width));
    at += row_bytes(s.width) * static_cast<std::size_t>(s.height);
  }
  return v;
}

std::size_t fused_scratch(const CudaShape& shape) {
  std::size_t bytes = measure_scratch(shape.width, shape.height, shape.channels);
  Size s{shape.width, shape.height};
  for (int l = 1; l < max_levels; ++l) {
    s = next_level(s, max_taps);
    bytes += 2 * static_cast<std::size_t>(shape.channels) * row_bytes(s.width) *
             static_cast<std::size_t>(s.height);
  }
  return bytes;
}

void enqueue_fused(const CudaJob& job, const Params& p) {
  const int taps = bank_of(p.basis).taps;
  std::byte* planes = job.scratch + measure_scratch(job.in.width, job.in.height, job.in.channels);
  GroupView before[max_levels],
      after[max_levels];  // LL of the levels so far, and as the deeper levels leave it
  before[0] = job.in;
  after[0] = job.out;
  for (int l = 1; l < p.levels; ++l) {
    const Size s = next_level({before[l - 1].width, before[l - 1].height}, taps);
    before[l] = level_planes(planes, s, job.in.channels);
    after[l] = level_planes(planes, s, job.in.channels);
    enqueue_ll(p.basis, before[l - 1], before[l], job.stream);
  }
  const bool estimate = job.sigma.fixed[0] < 0.f, overlaps = cuda::device_overlaps_kernels();
  if (estimate) enqueue_measure(p.basis, job.in, job.sigma, job.scratch, job.stream);
  for (int l = p.levels - 1; l >= 0; --l) {
    const bool deepest = l == p.levels - 1;
    Params at = p;
    at.alpha = level_alpha(p, l);
    // All of before[] was complete before the noise was measured.
    enqueue_fused_level({before[l], after[l], deepest ? GroupView{} : after[l + 1], job.sigma,
                         l == 0 ? job.strength : 1.f, overlaps && (estimate || !deepest), true},
                        at, job.stream);
  }
}

}  // namespace

std::size_t cuda_scratch(const CudaShape& shape) {
  return std::max(fused_scratch(shape), stages_scratch(shape.width, shape.height));
}

void run_cuda(const CudaJob& job, const Params& given) {
  const Params p = resolved(given);
  if (p.schedule == Schedule::fused)
    enqueue_fused(job, p);
  else
    enqueue_stages(job, p, 16);
}

}  // namespace quietframe::wavelet
