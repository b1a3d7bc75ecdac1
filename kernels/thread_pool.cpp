// A fixed set of threads that run whole frames and, inside a frame, ranges of rows; older work is served
// first.
#include "thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace quietframe {
namespace {

int usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

// All members are guarded by the pool's mutex; a range is a row band or a frame, so the lock is taken rarely.
// A job of parallel_for lies on its caller's stack, one of submit in tasks_.
struct ThreadPool::Job {
  int count = 0, grain = 1;
  int next = 0;     ///< first item not handed out
  int running = 0;  ///< ranges being worked on
  const RangeBody* body = nullptr;
  std::function<void()> task;  ///< of submit, where body is null
  std::exception_ptr error;
  std::condition_variable done;
  Job* after = nullptr;  ///< in the list of jobs or of idle tasks
};

namespace {

// The pool that the present thread works for, and its lane there.
thread_local const ThreadPool* own_pool = nullptr;
thread_local int own_lane = 0;

}  // namespace

ThreadPool::ThreadPool(int threads) {
  const int n = threads > 0 ? threads : usable_cpus();
  workers_.reserve(n);
  for (int i = 0; i < n; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& t : workers_) t.join();
}

void ThreadPool::push_front(Job& job) {
  job.after = first_;
  first_ = &job;
  if (!last_) last_ = &job;
}

void ThreadPool::push_back(Job& job) {
  job.after = nullptr;
  (last_ ? last_->after : first_) = &job;
  last_ = &job;
}

void ThreadPool::unlink(const Job& job) {
  Job* before = nullptr;
  for (Job* j = first_; j != &job; j = j->after) before = j;
  (before ? before->after : first_) = job.after;
  if (last_ == &job) last_ = before;
}

// Takes one range of `job`, runs it unlocked, and says whether there was one. The job is in the list of jobs
// exactly as long as it has ranges.
bool ThreadPool::run_some(Job& job, int lane, std::unique_lock<std::mutex>& lock) {
  if (job.next >= job.count) return false;
  const int begin = job.next, end = std::min(job.count, begin + job.grain);
  job.next = end;
  ++job.running;
  if (job.next >= job.count) unlink(job);
  lock.unlock();
  std::exception_ptr error;
  try {
    (*job.body)(begin, end, lane);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error && !job.error) {
    job.error = error;
    if (job.next < job.count) unlink(job);
    job.next = job.count;
  }
  if (--job.running == 0 && job.next >= job.count) job.done.notify_all();
  return true;
}

void ThreadPool::work(int lane) {
  own_pool = this;
  own_lane = lane;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || first_; });
    if (!first_) return;
    Job& job = *first_;
    if (job.body) {
      run_some(job, lane, lock);
      continue;
    }
    unlink(job);
    const auto task = std::exchange(job.task, nullptr);
    make_idle(job);
    lock.unlock();
    task();
    lock.lock();
  }
}

void ThreadPool::make_idle(Job& job) {
  job.after = idle_tasks_;
  idle_tasks_ = &job;
}

void ThreadPool::reserve(int tasks) {
  const std::lock_guard lock(mutex_);
  while (static_cast<int>(tasks_.size()) < tasks) make_idle(*tasks_.emplace_back(std::make_unique<Job>()));
}

void ThreadPool::submit(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_tasks_) make_idle(*tasks_.emplace_back(std::make_unique<Job>()));
    Job& job = *std::exchange(idle_tasks_, idle_tasks_->after);
    job.task = std::move(task);
    push_back(job);
  }
  wake_.notify_one();
}

void ThreadPool::parallel_for(int count, int grain, RangeBody body) {
  if (count <= 0) return;
  grain = std::max(1, grain);
  if (count <= grain) {
    body(0, count, 0);
    return;
  }
  const int lane = own_pool == this ? own_lane : threads();
  Job job;
  job.count = count;
  job.grain = grain;
  job.body = &body;
  std::unique_lock lock(mutex_);
  // In front of frames that have not begun: the frame this range belongs to is older than they are.
  push_front(job);
  wake_.notify_all();
  while (run_some(job, lane, lock)) {
  }
  job.done.wait(lock, [&] { return job.running == 0 && job.next >= job.count; });
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace quietframe
