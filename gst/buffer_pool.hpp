// A video buffer pool whose memory is always the host allocator's.
#pragma once
#include <gst/gst.h>

namespace quietframe::gst {

/// A pool over `allocator` (one of host_allocator()); GstVideoMeta and GstVideoAlignment are honoured. A new
/// reference.
GstBufferPool* make_buffer_pool(GstAllocator* allocator);

}  // namespace quietframe::gst
