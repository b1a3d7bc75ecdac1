// Waits for an event without burning a core and without waking late.
#pragma once
#include <chrono>

#include "cuda/types.hpp"

namespace quietframe::cuda {

/// Sleeps until shortly before the completion it predicts from the frames before, polls for some tens of
/// microseconds, then blocks. A blocking wait alone wakes 40 to 100 us late, which is as long as a small
/// frame takes; polling alone burns a core. One per kind of event; used by one thread at a time.
class Waiter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Returns when `event`, whose work was handed to the GPU at `start`, has happened. Throws CudaError when
  /// that work failed.
  void wait(cudaEvent_t event, Clock::time_point start);
  /// Forgets what it knows: another format, another filter.
  void reset() { expected_ = Clock::duration::zero(); }

 private:
  bool poll(cudaEvent_t event, Clock::time_point until);
  void learn(Clock::duration took);

  Clock::duration expected_{};  ///< from start to completion, smoothed
};

}  // namespace quietframe::cuda
