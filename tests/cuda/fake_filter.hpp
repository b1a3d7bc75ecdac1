// Filters on the fake GPU: their CPU definitions, reading and writing what the fake calls device memory.
#pragma once
#include <functional>

#include "cuda/job.hpp"
#include "noise/smoothed_cuda.hpp"

namespace quietframe::cuda {

/// The work of `filter` on `job` with these parameters, to be run when the stream comes to it.
std::function<void()> definition_on(const FilterInfo& filter, const CudaJob& job, const void* params);

/// Work that takes a group's step of the smoothed noise.
std::function<void()> smoothed_on(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                                  const CudaSigma& sigma);

}  // namespace quietframe::cuda
