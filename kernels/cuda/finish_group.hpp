// The kernel that finishes a group: what is outside of the region, and previews.
#pragma once
#include "cuda/types.hpp"
#include "finish.hpp"

namespace quietframe::cuda {

/// Enqueues finish_sample for every sample of a group; f.mask is device memory. The caller checks the launch.
void launch_finish_group(const Finish& f, const GroupView& in, const GroupView& out, cudaStream_t stream);

}  // namespace quietframe::cuda
