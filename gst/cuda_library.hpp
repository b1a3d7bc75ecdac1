// GstCuda, the library of GStreamer's own CUDA elements, found at run time: its interface is unstable (and
// broke under one soname between 1.22 and 1.24), so the plugin links none of it and uses only what is the
// same in all versions from 1.22 on.
#pragma once
#include <gst/video/video.h>

namespace quietframe::gst {

inline constexpr char cuda_feature[] = "memory:CUDAMemory";

/// GstCuda's GST_MAP_CUDA: maps to a device address.
inline constexpr int map_cuda = static_cast<int>(GST_MAP_FLAG_LAST) << 1;

/// The formats of GstCudaMemory that the element takes too, separated by ", ".
inline constexpr char cuda_formats[] =
    "NV12, NV21, I420, YV12, Y42B, Y444, I420_10LE, P010_10LE, RGB, BGR, RGBx, BGRx, RGBA, BGRA, ARGB, ABGR";

/// A GstCudaContext.
using CudaContext = GstObject;

class CudaLibrary {
 public:
  /// The library, or null where it is not installed, lacks a function, or finds no driver. Loaded at the
  /// first call.
  static const CudaLibrary* get();

  /// As the functions of GstCuda by these names.
  gboolean (*ensure_element_context)(GstElement* element, gint device, CudaContext** context);
  gboolean (*handle_set_context)(GstElement* element, GstContext* offered, gint device,
                                 CudaContext** context);
  gboolean (*handle_context_query)(GstElement* element, GstQuery* query, CudaContext* context);
  gpointer (*context_get_handle)(CudaContext* context);
  GstBufferPool* (*buffer_pool_new)(CudaContext* context);

  /// Since 1.24 elements hand memory on while their work on it is under way, on the memory's stream. Before,
  /// they wait for it.
  bool elements_keep_order() const { return memory_get_stream_ != nullptr; }
  /// The CUstream of this memory; null: the default stream.
  void* stream_of(GstMemory* memory) const;

 private:
  const char* load();  ///< null, or why not

  gpointer (*memory_get_stream_)(GstMemory* memory) = nullptr;  ///< since 1.24
  gpointer (*stream_get_handle_)(gpointer stream) = nullptr;    ///< since 1.24
};

/// The context of a GstCudaMemory (not a new reference), or null when `memory` is of another kind.
CudaContext* cuda_context_of(const GstMemory* memory);
CudaContext* cuda_context_of(GstBuffer* buffer);
/// The context of a GstCudaBufferPool, or null when `pool` is of another kind.
CudaContext* cuda_context_of(GstBufferPool* pool);

}  // namespace quietframe::gst
