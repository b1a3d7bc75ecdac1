// The smoothed noise estimate on the device: one pass over the frame, and the step over stream time at its
// end.
#pragma once
#include "cuda/job.hpp"
#include "noise/smoothing.hpp"

namespace quietframe {

/// What is known of one channel, in device memory; all zero: nothing. Frames that use it run one after
/// another.
struct SmoothedState {
  std::uint32_t counts[512];  ///< smoothing::bins of them; zero between frames
  std::uint32_t arrived;      ///< blocks done with a frame; zero between frames
  smoothing::State estimate;
  float look[smoothing::look_size];
};
static_assert(smoothing::bins <= 512);

/// What is new with a frame, in page-locked memory that the device reads as the frame runs.
struct SmoothedStep {
  float seconds = 0;  ///< of stream time since the frame before
  int reset = 0;      ///< what came before says nothing about this frame
};

/// Enqueues on `stream` the measurement of each channel of `in`, the step of state[c] that follows from it,
/// and writes the sigma that this frame is filtered with to sigma.device[c] and, where not null,
/// sigma.report[c]. Captured into the frame's graph: allocates nothing, synchronises with nothing.
void smooth_sigma_cuda(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                       const CudaSigma& sigma, cudaStream_t stream);

}  // namespace quietframe
