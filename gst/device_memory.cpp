// Sharing device memory with GStreamer's CUDA elements.
#include "device_memory.hpp"

#include "caps.hpp"
#include "cuda/device.hpp"
#include "debug.hpp"

namespace quietframe::gst {
namespace {

CapsRef in_memory(GstCaps* caps, const char* feature) {
  CapsRef copy(gst_caps_copy(caps));
  for (guint i = 0; i < gst_caps_get_size(copy.get()); ++i)
    gst_caps_set_features(copy.get(), i, gst_caps_features_new(feature, nullptr));
  return copy;
}

}  // namespace

bool is_cuda_caps(const GstCaps* caps) {
  const auto* features = gst_caps_get_size(caps) > 0 ? gst_caps_get_features(caps, 0) : nullptr;
  return features && gst_caps_features_contains(features, cuda_feature);
}

bool cuda_memory_may_be_used() { return cuda::built_with_cuda(); }

GstCaps* DeviceMemory::caps() const { return supported_caps(offered_ && cuda_memory_may_be_used()); }

void DeviceMemory::start(Processor& processor) {
  frames_ = dynamic_cast<DeviceFrames*>(&processor);
  library_ = frames_ ? CudaLibrary::get() : nullptr;
  offered_ = usable_ = library_ != nullptr;
}

void DeviceMemory::stop() {
  usable_ = false;
  offered_ = true;
  frames_ = nullptr;
  used_.reset();
  const std::lock_guard lock(mutex_);
  gst_clear_object(&context_);
}

GstCaps* DeviceMemory::other_side(GstCaps* caps) const {
  if (!offered_) return gst_caps_ref(caps);
  CapsRef same(gst_caps_copy(caps));
  const CapsRef formats(
      gst_caps_from_string((std::string("video/x-raw, format=(string){ ") + cuda_formats + " }").c_str()));
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const CapsRef one(gst_caps_copy_nth(caps, i));
    const bool cuda = is_cuda_caps(one.get());
    const CapsRef plain = in_memory(one.get(), GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
    const CapsRef common(gst_caps_intersect_full(plain.get(), formats.get(), GST_CAPS_INTERSECT_FIRST));
    auto other = in_memory(common.get(), cuda ? GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY : cuda_feature);
    same.reset(gst_caps_merge(same.release(), other.release()));
  }
  return same.release();
}

GstCaps* DeviceMemory::output_caps(GstPad* src, GstCaps* caps, bool passthrough) const {
  if (!usable_) return gst_caps_ref(caps);
  const CapsRef choices(other_side(caps));
  if (passthrough && gst_pad_peer_query_accept_caps(src, caps)) return gst_caps_ref(caps);
  // The peer's own order, where it has one, says what it would rather have.
  const CapsRef wanted(gst_pad_peer_query_caps(src, choices.get()));
  for (guint i = 0; wanted && i < gst_caps_get_size(wanted.get()); ++i) {
    const CapsRef one(gst_caps_copy_nth(wanted.get(), i));
    CapsRef result =
        in_memory(caps, is_cuda_caps(one.get()) ? cuda_feature : GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
    if (gst_caps_can_intersect(result.get(), one.get())) return result.release();
  }
  return gst_caps_ref(caps);
}

void DeviceMemory::ensure(int device) {
  const std::lock_guard lock(mutex_);
  if (!library_->ensure_element_context(element_, device, &context_))
    throw Error(
        "no CUDA context could be shared with the neighbouring elements. Put cudadownload in front, or give "
        "all "
        "of them the same cuda-device-id.");
}

CudaContext* DeviceMemory::context_for(GstBuffer* in, bool cuda_out) {
  if (!usable_) return nullptr;
  if (auto* c = cuda_context_of(in)) return c;
  if (!cuda_out) return nullptr;
  const std::lock_guard lock(mutex_);
  return context_;
}

void DeviceMemory::use(CudaContext* context) {
  frames_->use_context(library_->context_get_handle(context));
  GST_INFO_OBJECT(element_, "working in the CUDA context %s", GST_OBJECT_NAME(context));
  used_.reset(GST_OBJECT(gst_object_ref(context)));
  const std::lock_guard lock(mutex_);
  gst_object_replace(&context_, context);
}

void DeviceMemory::order_after(GstBuffer* buffer) {
  if (!used_ || !library_->elements_keep_order() || cuda_context_of(buffer) != used_.get()) return;
  frames_->start_after(library_->stream_of(gst_buffer_peek_memory(buffer, 0)));
}

PoolRef DeviceMemory::make_pool() {
  const std::lock_guard lock(mutex_);
  return PoolRef(library_->buffer_pool_new(used_ ? used_.get() : context_));
}

void DeviceMemory::set_context(GstContext* offered, int device) {
  if (!usable_) return;
  const std::lock_guard lock(mutex_);
  library_->handle_set_context(element_, offered, device, &context_);
}

// A neighbour asks. While this element itself is asking for a context it has none to offer, and waiting for
// each other would never end.
bool DeviceMemory::answer_context(GstQuery* query) {
  if (!usable_) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && context_ && library_->handle_context_query(element_, query, context_);
}

}  // namespace quietframe::gst
