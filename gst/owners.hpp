// Owning pointers for GStreamer's reference-counted things.
#pragma once
#include <gst/gst.h>

#include <memory>

namespace quietframe::gst {

struct MiniObjectUnref {
  void operator()(void* p) const { gst_mini_object_unref(GST_MINI_OBJECT_CAST(p)); }
};
struct ObjectUnref {
  void operator()(void* p) const { gst_object_unref(p); }
};
struct GFree {
  void operator()(void* p) const { g_free(p); }
};

using BufferRef = std::unique_ptr<GstBuffer, MiniObjectUnref>;
using CapsRef = std::unique_ptr<GstCaps, MiniObjectUnref>;
using EventRef = std::unique_ptr<GstEvent, MiniObjectUnref>;
using QueryRef = std::unique_ptr<GstQuery, MiniObjectUnref>;
using PoolRef = std::unique_ptr<GstBufferPool, ObjectUnref>;
using AllocatorRef = std::unique_ptr<GstAllocator, ObjectUnref>;
using StringRef = std::unique_ptr<char, GFree>;

}  // namespace quietframe::gst
