// A fixed set of threads that run whole frames and, inside a frame, ranges of rows; older work is served
// first.
#include "thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>

namespace quietframe {
namespace {

int usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

// All members are guarded by the pool's mutex; a range is a row band or a frame, so the lock is taken rarely.
struct ThreadPool::Job {
  int count = 0, grain = 1;
  int next = 0;     ///< first item not handed out
  int running = 0;  ///< ranges being worked on
  int lanes = 0;    ///< lanes given out so far
  const std::function<void(int, int, int)>* body = nullptr;
  std::function<void(int, int, int)> owned_body;  ///< of submit()
  std::vector<int> free_lanes;
  std::exception_ptr error;
  std::condition_variable done;
};

ThreadPool::ThreadPool(int threads) {
  const int n = threads > 0 ? threads : usable_cpus();
  workers_.reserve(n);
  for (int i = 0; i < n; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& t : workers_) t.join();
}

// Takes one range of `job`, runs it unlocked, and says whether there was one.
bool ThreadPool::run_some(Job& job, std::unique_lock<std::mutex>& lock) {
  if (job.next >= job.count) return false;
  const int begin = job.next, end = std::min(job.count, begin + job.grain);
  job.next = end;
  ++job.running;
  int lane;
  if (job.free_lanes.empty()) {
    lane = job.lanes++;
  } else {
    lane = job.free_lanes.back();
    job.free_lanes.pop_back();
  }
  lock.unlock();
  std::exception_ptr error;
  try {
    (*job.body)(begin, end, lane);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  job.free_lanes.push_back(lane);
  if (error && !job.error) {
    job.error = error;
    job.next = job.count;
  }
  if (--job.running == 0 && job.next >= job.count) job.done.notify_all();
  return true;
}

void ThreadPool::retire(const std::shared_ptr<Job>& job) {
  if (job->next < job->count) return;
  const auto it = std::ranges::find(jobs_, job);
  if (it != jobs_.end()) jobs_.erase(it);
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const auto job = jobs_.front();
    run_some(*job, lock);
    retire(job);
  }
}

void ThreadPool::submit(std::function<void()> task) {
  const auto job = std::make_shared<Job>();
  job->count = 1;
  job->owned_body = [task = std::move(task)](int, int, int) { task(); };
  job->body = &job->owned_body;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  wake_.notify_one();
}

void ThreadPool::parallel_for(int count, int grain, const std::function<void(int, int, int)>& body) {
  if (count <= 0) return;
  grain = std::max(1, grain);
  if (count <= grain) {
    body(0, count, 0);
    return;
  }
  const auto job = std::make_shared<Job>();
  job->count = count;
  job->grain = grain;
  job->body = &body;
  std::unique_lock lock(mutex_);
  // In front of frames that have not begun: the frame this range belongs to is older than they are.
  jobs_.push_front(job);
  wake_.notify_all();
  while (run_some(*job, lock)) {
  }
  retire(job);
  job->done.wait(lock, [&] { return job->running == 0 && job->next >= job->count; });
  if (job->error) std::rethrow_exception(job->error);
}

}  // namespace quietframe
