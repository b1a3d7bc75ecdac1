// The fake GstCuda. The fake GPU's device memory is host memory, so it is simply mapped.
#include "fake_cuda_library.hpp"

#include <atomic>

#include "cuda/runtime.hpp"

namespace quietframe {
namespace test {
namespace {

using gst::CudaContext;

constexpr char context_type[] = "gst.cuda.context";
std::atomic<bool> used = false;
std::atomic<int> contexts = 0;

// Types of GstCuda's names, where it has public ones.
template <class Class, class Instance>
GType register_type(GType parent, const char* name, GClassInitFunc init) {
  return g_type_register_static_simple(parent, name, sizeof(Class), init, sizeof(Instance), nullptr,
                                       static_cast<GTypeFlags>(0));
}

struct FakeMemory {
  GstMemory memory;
  CudaContext* context;
  void* device;
};
struct FakePool {
  GstBufferPool pool;
  CudaContext* context;
  GstVideoInfo info;
};

GType type_of_contexts() {
  static const GType type = register_type<GstObjectClass, GstObject>(
      GST_TYPE_OBJECT, "QuietframeTestCudaContext", [](gpointer klass, gpointer) {
        static const auto parent = G_OBJECT_CLASS(g_type_class_peek_parent(klass))->finalize;
        G_OBJECT_CLASS(klass)->finalize = [](GObject* object) {
          --contexts;
          parent(object);
        };
      });
  return type;
}

GstAllocator* allocator() {
  static GstAllocator* const only = [] {
    const auto type = register_type<GstAllocatorClass, GstAllocator>(
        GST_TYPE_ALLOCATOR, "QuietframeTestCudaAllocator", [](gpointer klass, gpointer) {
          GST_ALLOCATOR_CLASS(klass)->free = [](GstAllocator*, GstMemory* memory) {
            auto* fake = reinterpret_cast<FakeMemory*>(memory);
            cuda::runtime().device_free(fake->device);
            gst_object_unref(fake->context);
            g_free(fake);
          };
        });
    auto* a = GST_ALLOCATOR(gst_object_ref_sink(g_object_new(type, nullptr)));
    GST_OBJECT_FLAG_SET(a, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    a->mem_type = "gst.cuda.memory";
    a->mem_map = [](GstMemory* memory, gsize, GstMapFlags) {
      return reinterpret_cast<FakeMemory*>(memory)->device;
    };
    a->mem_unmap = [](GstMemory*) {};
    return a;
  }();
  return only;
}

// With the pitch of device memory.
GstVideoInfo padded_info(const GstVideoInfo& info) {
  GstVideoInfo padded = info;
  GstVideoAlignment align;
  gst_video_alignment_reset(&align);
  for (auto& a : align.stride_align) a = 511;
  gst_video_info_align(&padded, &align);
  return padded;
}

GstBuffer* new_buffer(const GstVideoInfo& info, CudaContext* context) {
  auto padded = padded_info(info);
  auto* memory = g_new0(FakeMemory, 1);
  if (cuda::runtime().device_alloc(&memory->device, padded.size) != 0) return g_free(memory), nullptr;
  memory->context = GST_OBJECT(gst_object_ref(context));
  gst_memory_init(&memory->memory, static_cast<GstMemoryFlags>(0), allocator(), nullptr, padded.size, 0, 0,
                  padded.size);
  auto* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, &memory->memory);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(info.width), static_cast<guint>(info.height),
                                 GST_VIDEO_INFO_N_PLANES(&info), padded.offset, padded.stride);
  return buffer;
}

GType type_of_pools() {
  static const GType type = register_type<GstBufferPoolClass, FakePool>(
      GST_TYPE_BUFFER_POOL, "GstCudaBufferPool", [](gpointer klass, gpointer) {
        auto* pools = GST_BUFFER_POOL_CLASS(klass);
        static const auto parent_config = pools->set_config;
        static const auto parent_finalize = G_OBJECT_CLASS(klass)->finalize;
        pools->set_config = [](GstBufferPool* pool, GstStructure* config) -> gboolean {
          auto& info = reinterpret_cast<FakePool*>(pool)->info;
          GstCaps* caps = nullptr;
          guint min = 0, max = 0;
          if (!gst_buffer_pool_config_get_params(config, &caps, nullptr, &min, &max) || !caps ||
              !gst_video_info_from_caps(&info, caps))
            return FALSE;
          gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(padded_info(info).size), min,
                                            max);
          return parent_config(pool, config);
        };
        pools->alloc_buffer = [](GstBufferPool* pool, GstBuffer** buffer, GstBufferPoolAcquireParams*) {
          auto* fake = reinterpret_cast<FakePool*>(pool);
          *buffer = new_buffer(fake->info, fake->context);
          return *buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
        };
        G_OBJECT_CLASS(klass)->finalize = [](GObject* object) {
          auto* context = reinterpret_cast<FakePool*>(object)->context;
          parent_finalize(object);
          gst_object_unref(context);
        };
      });
  return type;
}

// As GstCuda does: the neighbour downstream, the one upstream, then a new one.
gboolean ensure_element_context(GstElement* element, gint, CudaContext** context) {
  for (const char* name : {"src", "sink"}) {
    if (*context) return TRUE;
    auto* pad = gst_element_get_static_pad(element, name);
    auto* query = gst_query_new_context(context_type);
    GstContext* found = nullptr;
    if (gst_pad_peer_query(pad, query)) gst_query_parse_context(query, &found);
    if (found) gst_element_set_context(element, found);
    gst_query_unref(query);
    gst_object_unref(pad);
  }
  if (!*context) *context = new_fake_context();
  return TRUE;
}

gboolean handle_set_context(GstElement*, GstContext* offered, gint, CudaContext** context) {
  if (*context || !gst_context_has_context_type(offered, context_type)) return TRUE;
  return gst_structure_get(gst_context_get_structure(offered), "context", type_of_contexts(), context,
                           nullptr);
}

gboolean handle_context_query(GstElement*, GstQuery* query, CudaContext* context) {
  const gchar* type = nullptr;
  gst_query_parse_context_type(query, &type);
  if (g_strcmp0(type, context_type) != 0 || !context) return FALSE;
  auto* answer = gst_context_new(context_type, TRUE);
  gst_structure_set(gst_context_writable_structure(answer), "context", type_of_contexts(), context, nullptr);
  gst_query_set_context(query, answer);
  gst_context_unref(answer);
  return TRUE;
}

void copy(GstBuffer* from, GstBuffer* to, const GstVideoInfo& info) {
  GstVideoFrame a, b;
  if (!gst_video_frame_map(&a, &info, from, GST_MAP_READ)) return;
  if (gst_video_frame_map(&b, &info, to, GST_MAP_WRITE)) {
    gst_video_frame_copy(&b, &a);
    gst_video_frame_unmap(&b);
  }
  gst_video_frame_unmap(&a);
  gst_buffer_copy_into(to, from, GST_BUFFER_COPY_TIMESTAMPS, 0, static_cast<gsize>(-1));
}

}  // namespace

void use_fake_cuda_library() { used = true; }
int fake_contexts() { return contexts; }

CudaContext* new_fake_context() {
  ++contexts;
  return GST_OBJECT(gst_object_ref_sink(g_object_new(type_of_contexts(), nullptr)));
}

GstBuffer* to_cuda_memory(GstBuffer* frame, const GstVideoInfo& info, CudaContext* context) {
  auto* buffer = new_buffer(info, context);
  copy(frame, buffer, info);
  gst_buffer_unref(frame);
  return buffer;
}

GstBuffer* from_cuda_memory(GstBuffer* frame, const GstVideoInfo& info) {
  auto* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  copy(frame, buffer, info);
  return buffer;
}

}  // namespace test

const gst::CudaLibrary* gst::CudaLibrary::get() {
  static const CudaLibrary library = [] {
    CudaLibrary l;
    l.ensure_element_context = test::ensure_element_context;
    l.handle_set_context = test::handle_set_context;
    l.handle_context_query = test::handle_context_query;
    l.context_get_handle = [](CudaContext* context) -> gpointer { return context; };
    l.buffer_pool_new = [](CudaContext* context) {
      auto* pool = g_object_new(test::type_of_pools(), nullptr);
      reinterpret_cast<test::FakePool*>(pool)->context = GST_OBJECT(gst_object_ref(context));
      return GST_BUFFER_POOL(gst_object_ref_sink(pool));
    };
    return l;
  }();
  return test::used ? &library : nullptr;
}

void* gst::CudaLibrary::stream_of(GstMemory*) const { return nullptr; }

}  // namespace quietframe
