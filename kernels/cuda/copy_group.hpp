// The kernel that copies what no filter touches.
#pragma once
#include "cuda/types.hpp"
#include "pixel_format.hpp"

namespace quietframe::cuda {

/// Enqueues a copy of all samples and carry bytes of `in` to `out` (equal shapes and formats). The caller
/// checks the launch.
void launch_copy_group(const GroupView& in, const GroupView& out, cudaStream_t stream);

}  // namespace quietframe::cuda
