// The kernel that carries small frames over the bus.
#pragma once
#include <cstddef>

namespace quietframe::cuda {

/// Up to this size a kernel's own loads and stores carry a frame faster than a copy engine does: handing over
/// between an engine and the multiprocessors costs several microseconds on either side of the filter's
/// kernels, as much as the copy itself. On an H200, 512x512 GRAY8 through the element takes a fifth less time
/// so (19.7 to 15.8 us a frame at depth 3, 43 to 34 us at depth 1, in one run).
inline constexpr std::size_t small_copy_bytes = 512 * 1024;

/// One launch, for graphs whose addresses are set later: the function, its grid, and `arguments` that point
/// into this structure.
struct SmallCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  void* arguments[3];
  unsigned blocks;

  SmallCopy(std::byte* to, const std::byte* from, std::size_t bytes);
  SmallCopy(const SmallCopy&) = delete;
  SmallCopy& operator=(const SmallCopy&) = delete;

  static constexpr unsigned threads = 256;
  static void* function();  ///< for cudaLaunchKernel and cudaKernelNodeParams
};

}  // namespace quietframe::cuda
