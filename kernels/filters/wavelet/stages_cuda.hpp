// The two schedules that keep every coefficient in device memory: `stages` and `branches`.
#pragma once
#include "cuda/job.hpp"
#include "filters/wavelet/params.hpp"

namespace quietframe::wavelet {

/// Bytes of scratch for one channel, whatever the parameters; channels follow one another and share it.
std::size_t stages_scratch(int width, int height);

/// Enqueues `stages` or `branches` (p.schedule) with thread blocks of block x block (8, 16 or 32).
void enqueue_stages(const CudaJob& job, const Params& p, int block);

}  // namespace quietframe::wavelet
