// Every item is run once, lanes of concurrent ranges differ, exceptions reach the caller.
#include "thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace quietframe {
namespace {

TEST(ThreadPool, RunsEveryItemOnce) {
  ThreadPool pool(3);
  for (int count : {0, 1, 7, 64, 1000}) {
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(count));
    pool.parallel_for(count, 7, [&](int begin, int end, int) {
      for (int i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
    });
    for (const auto& h : hits) EXPECT_EQ(h, 1);
  }
}

TEST(ThreadPool, LanesOfConcurrentRangesDiffer) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> busy(static_cast<std::size_t>(pool.lanes()));
  std::atomic<bool> clash = false;
  pool.parallel_for(2000, 1, [&](int, int, int lane) {
    ASSERT_LT(lane, pool.lanes());
    if (busy[static_cast<std::size_t>(lane)].exchange(1) != 0) clash = true;
    std::this_thread::yield();
    busy[static_cast<std::size_t>(lane)] = 0;
  });
  EXPECT_FALSE(clash);
}

TEST(ThreadPool, NestsInsideSubmittedTasks) {
  std::atomic<int> sum = 0;
  {
    ThreadPool pool(2);
    for (int t = 0; t < 20; ++t)
      pool.submit([&] { pool.parallel_for(100, 3, [&](int begin, int end, int) { sum += end - begin; }); });
  }
  EXPECT_EQ(sum, 2000);
}

TEST(ThreadPool, RethrowsTheFirstException) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.parallel_for(100, 1,
                                 [](int begin, int, int) {
                                   if (begin == 50) throw std::runtime_error("x");
                                 }),
               std::runtime_error);
  std::atomic<int> sum = 0;
  pool.parallel_for(10, 1, [&](int, int, int) { ++sum; });
  EXPECT_EQ(sum, 10);
}

}  // namespace
}  // namespace quietframe
