// A GstBuffer's planes as the kernels see them; the one place that looks at what kind of memory they lie in.
#pragma once
#include <gst/video/video.h>

#include "cuda_library.hpp"
#include "pixel_format.hpp"

namespace quietframe::gst {

/// Who is to read and write mapped memory.
struct MapTarget {
  const CudaContext* context = nullptr;  ///< CUDAMemory of this context is mapped on the device, all else to
                                         ///< system memory
  bool page_lock = false;                ///< system memory that comes back often is page-locked
};

/// A mapped buffer. The buffer is not referenced: whoever maps it keeps it until it is unmapped.
class MappedFrame {
 public:
  MappedFrame() = default;
  ~MappedFrame() { unmap(); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  /// Maps `buffer` of frames with `info` and `format`. Throws StreamError when the buffer cannot hold such a
  /// frame: what is returned never reaches past its memory.
  Frame map(GstBuffer* buffer, const GstVideoInfo& info, const FrameFormat& format, GstMapFlags flags,
            const MapTarget& target);
  void unmap();

 private:
  GstVideoFrame frame_;
  bool mapped_ = false;
};

}  // namespace quietframe::gst
