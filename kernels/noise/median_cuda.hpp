// The exact median of a coefficient plane's magnitudes, enqueued: what turns HH into the noise sigma on the
// device.
#pragma once
#include "cuda/job.hpp"
#include "noise/select.cuh"

namespace quietframe::noise {

/// Coefficients of one channel each: `count` floats without gaps, 16-byte aligned, and the state that counts
/// them.
struct MedianInput {
  std::array<const float*, max_channels> values{};
  std::array<MedianState*, max_channels> state{};
  int channels = 0;
  int count = 0;  ///< at least 1, the same for all channels
};

/// Clears the states: before the first kernel that counts.
void enqueue_clear(const MedianInput& in, cudaStream_t stream);
/// Counts the values, where the kernel that made them has not.
void enqueue_count(const MedianInput& in, cudaStream_t stream);
/// Writes median(|values|) / 0.6745 of each channel to sigma.device and sigma.report. `overlap`: the launch
/// before it on the stream lets it start early (programmatic dependent launch).
void enqueue_sigma(const MedianInput& in, const CudaSigma& sigma, bool overlap, cudaStream_t stream);

}  // namespace quietframe::noise
