// Loads GstCuda.
#include "cuda_library.hpp"

#include <gmodule.h>

#include "debug.hpp"

namespace quietframe::gst {
namespace {

template <class F>
bool find(GModule* module, const char* name, F*& function) {
  gpointer symbol = nullptr;
  if (!g_module_symbol(module, name, &symbol)) return false;
  function = reinterpret_cast<F*>(symbol);
  return true;
}

}  // namespace

const char* CudaLibrary::load() {
  auto* module = g_module_open("libgstcuda-1.0.so.0",
                               static_cast<GModuleFlags>(G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL));
  if (!module) return "libgstcuda-1.0 is not installed";
  g_module_make_resident(module);  // its types are registered for the life of the process
  gboolean (*load_driver)() = nullptr;
  void (*init_once)() = nullptr;
  if (!find(module, "gst_cuda_load_library", load_driver) ||
      !find(module, "gst_cuda_memory_init_once", init_once) ||
      !find(module, "gst_cuda_ensure_element_context", ensure_element_context) ||
      !find(module, "gst_cuda_handle_set_context", handle_set_context) ||
      !find(module, "gst_cuda_handle_context_query", handle_context_query) ||
      !find(module, "gst_cuda_context_get_handle", context_get_handle) ||
      !find(module, "gst_cuda_buffer_pool_new", buffer_pool_new))
    return "libgstcuda-1.0 lacks a function that 1.22 has";
  if (!find(module, "gst_cuda_memory_get_stream", memory_get_stream_) ||
      !find(module, "gst_cuda_stream_get_handle", stream_get_handle_))
    memory_get_stream_ = nullptr;
  if (!load_driver()) return "libgstcuda-1.0 finds no driver";
  init_once();
  return nullptr;
}

const CudaLibrary* CudaLibrary::get() {
  static CudaLibrary library;
  static const bool loaded = [] {
    const char* why = library.load();
    if (why) GST_INFO("no %s: %s", cuda_feature, why);
    return why == nullptr;
  }();
  return loaded ? &library : nullptr;
}

void* CudaLibrary::stream_of(GstMemory* memory) const {
  auto* stream = memory_get_stream_(memory);
  return stream ? stream_get_handle_(stream) : nullptr;
}

}  // namespace quietframe::gst
