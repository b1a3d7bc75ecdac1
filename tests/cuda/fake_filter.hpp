// Filters on the fake GPU: their CPU definitions, reading and writing what the fake calls device memory.
#pragma once
#include <functional>

#include "cuda/job.hpp"

namespace quietframe::cuda {

/// The work of `filter` on `job` with these parameters, to be run when the stream comes to it.
std::function<void()> definition_on(const FilterInfo& filter, const CudaJob& job, const void* params);

}  // namespace quietframe::cuda
