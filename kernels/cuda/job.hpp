// What a CUDA filter is given: one group of one frame in device memory, the noise sigma, scratch, and a
// stream.
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "cuda/error.hpp"
#include "cuda/types.hpp"
#include "filter.hpp"

namespace quietframe {

/// What scratch sizes may depend on: fixed at caps time.
struct CudaShape {
  int width, height, channels;
  SampleType type;
};

/// Noise sigma of each channel in levels: on the device, or fixed.
struct CudaSigma {
  float* device =
      nullptr;  ///< max_channels floats that earlier work on the stream has written; null: `fixed`
  std::array<float, max_channels> fixed{};
  /// Where an estimate is made it is written here too, for the report: max_channels floats in page-locked
  /// host memory that the device writes directly (so no copy node is spent on 12 bytes). May be null.
  float* report = nullptr;

#ifdef __CUDACC__
  __device__ float operator()(int c) const { return device ? device[c] : fixed[c]; }
#endif
};

/// A filter reads `in` and writes every sample (and carry byte) of `out`, mixing in the input by `strength`;
/// it enqueues on `stream` only (forks join it again), allocates nothing, and synchronises with nothing: the
/// calls are captured into a graph. Where NoiseUse is own and sigma.fixed[0] < 0, it also writes its estimate
/// to sigma.device and sigma.report. Launches are followed by QF_CUDA_CHECK_LAUNCH("name of the kernel").
struct CudaJob {
  GroupView in, out;                ///< pointers into device memory
  std::span<const GroupView> past;  ///< earlier input frames, newest first
  CudaSigma sigma;
  float strength = 1.f;
  std::byte* scratch = nullptr;  ///< cuda_scratch(shape) bytes, 256-byte aligned
  std::size_t scratch_bytes = 0;
  cudaStream_t stream = nullptr;
  cudaStream_t side_stream = nullptr;  ///< for work beside `stream`: fork and join with the two events
  cudaEvent_t fork = nullptr, join = nullptr;
};

}  // namespace quietframe
