// What the gaussian's implementations on CUDA look like to the one that chooses between them.
#pragma once
#include "cuda/job.hpp"

namespace quietframe::gaussian {

/// Enqueues the blur with taps half[0..radius] either side of the centre; false where it cannot: the radius
/// is more than 6 for one channel or 3 for more, or rows are not whole runs of four pixels at addresses of
/// whole words.
bool run_march(const CudaJob& job, int radius, const float* half);

}  // namespace quietframe::gaussian
