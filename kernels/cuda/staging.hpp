// Page-locked stand-ins for frames in ordinary memory, and the threads that copy between the two.
#pragma once
#include <cstddef>
#include <memory>

#include "cuda/handles.hpp"
#include "pixel_format.hpp"
#include "thread_pool.hpp"

namespace quietframe::cuda {

/// Page-locked memory for one frame, with rows that kernels like and nothing between its planes.
class StagingFrame {
 public:
  /// Makes room for `format`; keeps what there is where it is large enough. Throws CudaError.
  void allocate(const FrameFormat& format);
  void release() { memory_.reset(), capacity_ = 0; }
  const Frame& frame() const { return frame_; }
  bool ready_for(const FrameFormat& format) const { return memory_ && frame_.format == format; }

 private:
  PinnedMemory memory_;
  std::size_t capacity_ = 0;
  Frame frame_;
};

/// Copies frames row by row over as many threads as it takes to keep up with the bus: one thread copies about
/// 10 GB/s, a fifth of what PCIe 5 carries.
class RowCopier {
 public:
  /// Copies the samples of `from` to `to` (same format); returns the bytes. Two threads may call at once.
  std::size_t copy(const Frame& from, const Frame& to);

 private:
  ThreadPool pool_{static_cast<int>(threads())};
  static unsigned threads();
};

}  // namespace quietframe::cuda
