// What a processor offers to callers whose frames lie in device memory; only backends that have such memory
// do.
#pragma once

namespace quietframe {

/// Asked of a Processor by dynamic_cast. Called from the thread that submits.
class DeviceFrames {
 public:
  /// From now on the memory of frames with MemoryKind::device belongs to `context` (a CUcontext; null: the
  /// device's primary one), and all work is done in it. Waits for what is in flight; the processor must be
  /// configured anew. The context must live until another one is in use, or the processor is gone. Throws
  /// Error.
  virtual void use_context(void* context) = 0;

  /// The next frame begins after all work that is on `stream` (a CUstream of the context in use; null: the
  /// default stream) when it is submitted: what writes its input, or still reads its output. Twice at most
  /// for a frame.
  virtual void start_after(void* stream) = 0;

 protected:
  ~DeviceFrames() = default;
};

}  // namespace quietframe
