// GstVideoBufferPool with one change: base classes upstream write allocation parameter 0 into the pool's
// configuration, which would replace our allocator by the system's, so set_config puts it back.
#include "buffer_pool.hpp"

#include <gst/video/video.h>  // not gstvideopool.h alone: in 1.28 it needs what includes it

namespace quietframe::gst {
namespace {

struct QuietframeHostBufferPool {
  GstVideoBufferPool parent;
  GstAllocator* allocator;
};
struct QuietframeHostBufferPoolClass {
  GstVideoBufferPoolClass parent;
};

GType quietframe_host_buffer_pool_get_type();
G_DEFINE_TYPE(QuietframeHostBufferPool, quietframe_host_buffer_pool, GST_TYPE_VIDEO_BUFFER_POOL)

gboolean set_config(GstBufferPool* pool, GstStructure* config) {
  auto* self = reinterpret_cast<QuietframeHostBufferPool*>(pool);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  gst_buffer_pool_config_get_allocator(config, nullptr, &params);
  gst_buffer_pool_config_set_allocator(config, self->allocator, &params);
  return GST_BUFFER_POOL_CLASS(quietframe_host_buffer_pool_parent_class)->set_config(pool, config);
}

void finalize(GObject* object) {
  g_clear_pointer(&reinterpret_cast<QuietframeHostBufferPool*>(object)->allocator, gst_object_unref);
  G_OBJECT_CLASS(quietframe_host_buffer_pool_parent_class)->finalize(object);
}

void quietframe_host_buffer_pool_init(QuietframeHostBufferPool*) {}

void quietframe_host_buffer_pool_class_init(QuietframeHostBufferPoolClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  GST_BUFFER_POOL_CLASS(klass)->set_config = set_config;
}

}  // namespace

GstBufferPool* make_buffer_pool(GstAllocator* allocator) {
  auto* self =
      static_cast<QuietframeHostBufferPool*>(g_object_new(quietframe_host_buffer_pool_get_type(), nullptr));
  self->allocator = GST_ALLOCATOR(gst_object_ref(allocator));
  return GST_BUFFER_POOL(gst_object_ref_sink(self));
}

}  // namespace quietframe::gst
