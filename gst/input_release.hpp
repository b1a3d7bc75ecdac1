// Lets input buffers go while their frames wait for their turn to be pushed.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace quietframe::gst {

/// The source task lets each input go when its frame is done. While a push downstream blocks, the frames
/// behind it are done, too, and nobody would say so to whoever waits for the buffers: a camera, a decoder.
/// This thread looks after them. It sleeps while no frame is in flight, and otherwise looks every few
/// milliseconds: frames that flow are let go by the task and pay for one flag each.
class InputRelease {
 public:
  ~InputRelease() { stop(); }
  /// From now on `release` is called some time after each notice; it lets go all inputs that are left.
  void start(std::function<void()> release);
  void stop();
  /// A frame was queued.
  void notice();

 private:
  void run(const std::function<void()>& release);

  std::atomic<bool> watching_ = false;  ///< set by notice, cleared by the thread before it sleeps
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace quietframe::gst
