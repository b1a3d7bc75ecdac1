// The thread that looks after inputs.
#include "input_release.hpp"

#include <chrono>

namespace quietframe::gst {
namespace {

constexpr auto patience = std::chrono::milliseconds(2);

}  // namespace

void InputRelease::start(std::function<void()> release) {
  stop_ = false;
  watching_ = false;
  thread_ = std::thread([this, release = std::move(release)] { run(release); });
}

void InputRelease::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void InputRelease::notice() {
  if (watching_.exchange(true)) return;
  { const std::lock_guard lock(mutex_); }  // the thread is asleep, or has not yet looked at watching_
  wake_.notify_one();
}

void InputRelease::run(const std::function<void()>& release) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || watching_; });
    if (wake_.wait_for(lock, patience, [this] { return stop_; })) return;
    watching_ = false;  // a frame queued from here on is noticed anew
    lock.unlock();
    release();
    lock.lock();
  }
}

}  // namespace quietframe::gst
