// A CUDA context that is current on a thread for a while; what was current before is current again after.
#pragma once
#include <new>

#include "cuda/error.hpp"
#include "cuda/runtime.hpp"

namespace quietframe::cuda {

/// The threads that call belong to the application and to other elements, which may have made contexts of
/// their own current: those are not replaced.
class ContextScope {
 public:
  /// Throws CudaError when the context cannot be made current.
  explicit ContextScope(CUcontext context) { QF_CUDA_CHECK(runtime().context_push(context)); }
  /// Goes on without, for what has to be tried all the same: waiting, and letting go.
  ContextScope(CUcontext context, const std::nothrow_t&) noexcept
      : pushed_(context && runtime().context_push(context) == 0) {
    if (!pushed_) runtime().take_last_error();
  }
  ~ContextScope() {
    if (pushed_ && runtime().context_pop() != 0) runtime().take_last_error();
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  bool pushed_ = true;
};

}  // namespace quietframe::cuda
