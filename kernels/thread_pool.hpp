// A fixed set of threads that run whole frames and, inside a frame, ranges of rows; older work is served
// first.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace quietframe {

/// A callable (begin, end, lane) that someone else keeps: naming one costs no allocation, as a std::function
/// does.
class RangeBody {
 public:
  template <class F>
  RangeBody(const F& f)
      : callable_(&f), call_([](const void* callable, int begin, int end, int lane) {
          (*static_cast<const F*>(callable))(begin, end, lane);
        }) {}
  void operator()(int begin, int end, int lane) const { call_(callable_, begin, end, lane); }

 private:
  const void* callable_;
  void (*call_)(const void* callable, int begin, int end, int lane);
};

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

  /// Makes room for that many tasks that have not begun; submit allocates only beyond it.
  void reserve(int tasks);

  /// Runs `task` on a worker. The task must not throw.
  void submit(std::function<void()> task);

  /// Calls body(begin, end, lane) for disjoint ranges that cover 0..count, each of at most `grain` items;
  /// lanes of ranges that run at the same time differ and are < lanes(). Returns when all have run; the
  /// caller works too, so it may be called from a worker. Rethrows the first exception of a body. Allocates
  /// nothing.
  void parallel_for(int count, int grain, RangeBody body);

 private:
  struct Job;
  void work(int lane);
  bool run_some(Job& job, int lane, std::unique_lock<std::mutex>& lock);
  void push_front(Job& job);
  void push_back(Job& job);
  void unlink(const Job& job);
  void make_idle(Job& job);

  std::mutex mutex_;
  std::condition_variable wake_;
  Job *first_ = nullptr, *last_ = nullptr;   ///< jobs with ranges still to hand out, oldest first
  Job* idle_tasks_ = nullptr;                ///< those of tasks_ that are not in use
  std::vector<std::unique_ptr<Job>> tasks_;  ///< jobs of submit, kept to be used again
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace quietframe
