// A fixed set of threads that run whole frames and, inside a frame, ranges of rows; older work is served
// first.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace quietframe {

class ThreadPool {
 public:
  /// `threads` >= 1, or 0 for one per CPU this process may run on.
  explicit ThreadPool(int threads = 0);
  /// Finishes all submitted work first.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()); }
  /// Most lanes that one parallel_for can use: the pool's threads and the caller.
  int lanes() const { return threads() + 1; }

  /// Runs `task` on a worker. The task must not throw.
  void submit(std::function<void()> task);

  /// Calls body(begin, end, lane) for disjoint ranges that cover 0..count, each of at most `grain` items;
  /// lanes of ranges that run at the same time differ and are < lanes(). Returns when all have run; the
  /// caller works too, so it may be called from a worker. Rethrows the first exception of a body.
  void parallel_for(int count, int grain, const std::function<void(int begin, int end, int lane)>& body);

 private:
  struct Job;
  void work();
  static bool run_some(Job& job, std::unique_lock<std::mutex>& lock);
  void retire(const std::shared_ptr<Job>& job);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;  ///< with ranges still to hand out, oldest first
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace quietframe
