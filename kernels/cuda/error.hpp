// Failed CUDA calls as exceptions: code, call and place for engineers, and a remedy for users.
#pragma once
#include <string>

#include "processor.hpp"

namespace quietframe::cuda {

/// What failed, as far as callers act on it.
enum class Fault {
  out_of_memory,  ///< device or page-locked memory; fewer frames in flight may do
  no_device,      ///< no driver, no GPU, or not that one
  lost,           ///< the context is unusable: nothing on it will work again in this process
  other,
};

/// A CUDA call that failed. what() names the call, CUDA's own words, and the remedy.
class CudaError : public Error {
 public:
  /// `code` is a cudaError_t.
  CudaError(int code, const char* call, const char* file, int line);

  int code() const { return code_; }
  Fault fault() const;
  const std::string& place() const { return place_; }  ///< "file.cpp:42"

 private:
  int code_;
  std::string place_;
};

/// Throws CudaError when `code` (a cudaError_t) is not success, and clears the runtime's last-error slot.
inline void check(int code, const char* call, const char* file, int line) {
  if (code != 0) [[unlikely]]
    throw CudaError(code, call, file, line);
}

/// Throws CudaError when a kernel launch since the last check failed; to be called after every launch.
void check_launch(const char* kernel, const char* file, int line);

}  // namespace quietframe::cuda

#define QF_CUDA_CHECK(call) ::quietframe::cuda::check(static_cast<int>(call), #call, __FILE__, __LINE__)
#define QF_CUDA_CHECK_LAUNCH(kernel) ::quietframe::cuda::check_launch(kernel, __FILE__, __LINE__)
