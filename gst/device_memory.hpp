// memory:CUDAMemory on either side of the element: caps, the shared context, and the pools. All of it is
// inactive on the CPU backend, and where GstCuda is not there.
#pragma once
#include <atomic>
#include <mutex>

#include "cuda_library.hpp"
#include "device_frames.hpp"
#include "owners.hpp"
#include "processor.hpp"

namespace quietframe::gst {

using CudaContextRef = std::unique_ptr<CudaContext, ObjectUnref>;

bool is_cuda_caps(const GstCaps* caps);
/// Whether this build could take CUDAMemory.
bool cuda_memory_may_be_used();

/// Threads: start, stop, ensure, use and context_for belong to the streaming thread; the rest may be called
/// from any.
class DeviceMemory {
 public:
  explicit DeviceMemory(GstElement* element) : element_(element) {}
  ~DeviceMemory() { stop(); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void start(Processor& processor);
  /// After the processor is gone.
  void stop();
  /// Frames in CUDAMemory can be taken and given.
  bool usable() const { return usable_; }
  /// The element's caps: with CUDAMemory where it is usable, and before that is known. A new reference.
  GstCaps* caps() const;

  /// What may stand on one side of the element when `caps` stand on the other: the same caps in the same
  /// memory, then in the other memory. A new reference.
  GstCaps* other_side(GstCaps* caps) const;
  /// The caps that leave when `caps` arrive: in the same memory, unless downstream (of `src`) wants or takes
  /// the other alone. A new reference.
  GstCaps* output_caps(GstPad* src, GstCaps* caps, bool passthrough) const;

  /// Gets a context from the neighbours or the application, or makes one. Throws Error.
  void ensure(int device);
  /// The context that a frame calls for: that of the CUDAMemory it comes in, or that of what it leaves in;
  /// null when neither is CUDAMemory.
  CudaContext* context_for(GstBuffer* in, bool cuda_out);
  /// The one that the processor works in; null: its own.
  CudaContext* used() const { return used_.get(); }
  /// Moves the processor into `context`; it must be configured anew. Nothing is in flight.
  void use(CudaContext* context);
  /// The next frame begins after what other elements still do with this memory.
  void order_after(GstBuffer* buffer);

  /// A pool of CUDAMemory for frames of `caps`, not yet configured.
  PoolRef make_pool();

  void set_context(GstContext* offered, int device);
  bool answer_context(GstQuery* query);

 private:
  GstElement* const element_;
  std::atomic<bool> usable_ = false, offered_ = true;
  const CudaLibrary* library_ = nullptr;
  DeviceFrames* frames_ = nullptr;
  // Recursive: a neighbour that is asked for its context may offer it to this element at once.
  mutable std::recursive_mutex mutex_;  ///< guards context_
  CudaContext* context_ = nullptr;      ///< owned; shared with the neighbours. GstCuda is given its address
  CudaContextRef used_;
};

}  // namespace quietframe::gst
