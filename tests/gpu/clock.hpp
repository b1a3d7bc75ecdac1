// Reads the SM clock as part of a measurement.
#pragma once
#include <cuda_runtime_api.h>

namespace quietframe::test {

/// Enqueues 100 microseconds of counting; *ghz (memory that the device can write) then holds the SM clock.
void enqueue_clock(double* ghz, cudaStream_t stream);

}  // namespace quietframe::test
