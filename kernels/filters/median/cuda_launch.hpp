// One launch of the CUDA median: what every method of it is given.
#pragma once
#include "cuda/job.hpp"
#include "filters/median/params.hpp"

namespace quietframe::median {

/// One launch for one channel group: blockIdx.z is the channel.
struct Launch {
  GroupView in, out;
  Window window;
  float strength;
};

}  // namespace quietframe::median
