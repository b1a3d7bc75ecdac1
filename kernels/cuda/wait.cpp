// The waiting policy: sleep, poll, block.
#include "cuda/wait.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "cuda/error.hpp"
#include "cuda/runtime.hpp"

namespace quietframe::cuda {
namespace {

using namespace std::chrono_literals;

constexpr auto wake_early = 30us;  // what the kernel's scheduler may wake late by, measured: notes of wait()
constexpr auto shortest_sleep = 50us;  // below it, the system call and the wake-up cost more than they save
constexpr auto poll_past = 50us;       // after the predicted completion, before the thread blocks
constexpr auto poll_pause = 1us;       // an event query takes the driver's lock, which submit needs too

bool is_done(cudaEvent_t event) {
  bool done = false;
  QF_CUDA_CHECK(runtime().event_query(event, &done));
  return done;
}

void pause_for(std::chrono::nanoseconds length) {
  const auto until = Waiter::Clock::now() + length;
  while (Waiter::Clock::now() < until) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
}

// Linux lets timers of ordinary threads expire 50 us late, to batch wake-ups; ask for 1 us meanwhile.
class ExactTimers {
 public:
  ExactTimers() : before_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) { prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0); }
  ~ExactTimers() {
    if (before_ > 0) prctl(PR_SET_TIMERSLACK, before_, 0, 0, 0);
  }
  ExactTimers(const ExactTimers&) = delete;
  ExactTimers& operator=(const ExactTimers&) = delete;

 private:
  int before_;
};

}  // namespace

bool Waiter::poll(cudaEvent_t event, Clock::time_point until) {
  for (;;) {
    if (is_done(event)) return true;
    if (Clock::now() >= until) return false;
    pause_for(poll_pause);
  }
}

void Waiter::learn(Clock::duration took) {
  expected_ = expected_ == Clock::duration::zero() ? took : expected_ + (took - expected_) / 8;
}

void Waiter::wait(cudaEvent_t event, Clock::time_point start) {
  if (is_done(event)) {
    // The caller came late, so the work took at most this long.
    if (const auto took = Clock::now() - start; took < expected_) learn(took);
    return;
  }
  const auto wake = start + expected_ - wake_early;
  if (wake - Clock::now() > shortest_sleep) {
    {
      const ExactTimers exact;
      std::this_thread::sleep_until(wake);
    }
    if (is_done(event)) {
      // Overslept by an unknown time: expect less until a poll sees a completion again.
      expected_ -= expected_ / 16;
      return;
    }
  }
  if (!poll(event, std::max(Clock::now(), start + expected_) + poll_past))
    QF_CUDA_CHECK(runtime().event_synchronize(event));
  learn(Clock::now() - start);
}

}  // namespace quietframe::cuda
