// The SM clock under the load of the moment, read by a kernel that follows the work on its stream.
#include <cuda_runtime.h>

#include "clock.hpp"

namespace quietframe::test {
namespace {

__device__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

__global__ void count_clocks(double* ghz) {
  const auto start_ns = nanoseconds();
  const auto start = clock64();
  while (nanoseconds() - start_ns < 100'000) {
  }
  const auto clocks = clock64() - start;
  *ghz = static_cast<double>(clocks) / static_cast<double>(nanoseconds() - start_ns);
}

}  // namespace

void enqueue_clock(double* ghz, cudaStream_t stream) { count_clocks<<<1, 1, 0, stream>>>(ghz); }

}  // namespace quietframe::test
