// The queue between the streaming thread, which submits frames and events, and the source task, which pushes
// them in the same order. It knows neither processors nor pads.
#pragma once
#include <gst/gst.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "frame_map.hpp"
#include "owners.hpp"
#include "properties.hpp"

namespace quietframe::gst {

using Clock = std::chrono::steady_clock;

/// One frame in flight: all that must stay alive until it is done.
struct FrameSlot {
  BufferRef in, out;
  MappedFrame in_map, out_map;
  std::uint64_t number = 0;  ///< the processor's
  Clock::time_point arrived;

  void release() {
    in_map.unmap();
    out_map.unmap();
    in.reset();
    out.reset();
  }
};

/// Threads: one streaming thread (wait_slot, next_slot, push, drain, idle), one source task (pop, frame_done,
/// item_done), and anyone for the rest. Every wait ends when the flow is no longer GST_FLOW_OK.
class FrameQueue {
 public:
  struct Item {
    FrameSlot* frame = nullptr;  ///< a frame, or
    EventRef event;              ///< an event
  };

  /// Frames that may be in flight; only while none is.
  void set_depth(int depth) { depth_ = depth; }
  int depth() const { return depth_; }

  GstFlowReturn flow() const;
  /// Ends every wait with `flow`.
  void close(GstFlowReturn flow);
  /// Ends every wait with `flow`, unless another failure came first.
  void fail(GstFlowReturn flow);
  /// Lets items flow (again) while the queue is active; says whether they do.
  GstFlowReturn open();
  /// An inactive queue stays closed, whoever opens it.
  void set_active(bool active);

  /// Returns when another frame may be submitted.
  GstFlowReturn wait_slot();
  FrameSlot& next_slot() { return slots_[next_slot_]; }
  /// Queues next_slot(), which has been submitted.
  void push_frame();
  void push_event(EventRef event);

  /// Returns when everything has been pushed downstream.
  GstFlowReturn drain();
  bool idle() const;

  /// The oldest item; it counts as being worked on until item_done. False when the flow is not GST_FLOW_OK.
  bool pop(Item& item);
  /// The processor is done with the frame that was popped: another may be submitted.
  void frame_done(const FrameSlot& slot);
  void item_done();

  /// For one more thread: lets the inputs of frames go that have not been popped yet, oldest first, each once
  /// `wait` has returned for its number.
  void release_inputs(const std::function<void(std::uint64_t number)>& wait);

  /// Drops everything. Only while neither the streaming thread nor the task is inside, and the processor is
  /// done.
  void clear();

 private:
  void wake();
  void put(Item item);              ///< mutex held
  Item take();                      ///< mutex held
  FrameSlot* oldest_input() const;  ///< of the frames not yet popped; mutex held

  mutable std::mutex mutex_;
  std::condition_variable changed_streaming_, changed_task_, changed_watched_;
  GstFlowReturn flow_ = GST_FLOW_FLUSHING;
  bool active_ = false;
  std::array<FrameSlot, max_async_depth> slots_;
  int depth_ = 1;
  int next_slot_ = 0;
  int in_flight_ = 0;
  bool busy_ = false;                   ///< the task works on an item
  const FrameSlot* watched_ = nullptr;  ///< release_inputs waits for it: it stays this frame's
  std::vector<Item> ring_{32};          ///< grows, never shrinks: no allocation per frame
  std::size_t head_ = 0, count_ = 0;
};

}  // namespace quietframe::gst
