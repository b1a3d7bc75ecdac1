// The shared noise estimate on the device: the same sigma as estimate.hpp's, without a word from the host.
#pragma once
#include "cuda/job.hpp"

namespace quietframe {

/// Bytes of scratch that estimate_sigma_cuda needs for a group of this shape.
std::size_t estimate_sigma_cuda_scratch(const CudaShape& shape);

/// Enqueues on `stream` the estimate of each channel of `in` (as estimate_sigma's, exact median); it is
/// written to sigma.device[c], and to sigma.report[c] where that is not null, for c < in.channels. Captured
/// into the frame's graph: allocates nothing, synchronises with nothing. `scratch` is 256-byte aligned.
void estimate_sigma_cuda(const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                         cudaStream_t stream);

}  // namespace quietframe
