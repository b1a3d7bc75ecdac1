// The FIFO of frames and events.
#include "frame_queue.hpp"

#include <thread>

namespace quietframe::gst {
namespace {

// Putting a thread to sleep and waking it takes as long as a small frame takes on a GPU. What is waited for
// comes within this time where frames are small and follow one another; a live feed spends it once a frame.
constexpr auto look_again_for = std::chrono::microseconds(20);

template <class Ready>
void wait_for(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Ready ready) {
  for (const auto until = Clock::now() + look_again_for; !ready() && Clock::now() < until;) {
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  changed.wait(lock, ready);
}

}  // namespace

GstFlowReturn FrameQueue::flow() const {
  const std::lock_guard lock(mutex_);
  return flow_;
}

void FrameQueue::wake() {
  changed_streaming_.notify_all();
  changed_task_.notify_all();
}

void FrameQueue::close(GstFlowReturn flow) {
  {
    const std::lock_guard lock(mutex_);
    flow_ = flow;
  }
  wake();
}

void FrameQueue::fail(GstFlowReturn flow) {
  {
    const std::lock_guard lock(mutex_);
    if (flow_ == GST_FLOW_OK) flow_ = flow;
  }
  wake();
}

GstFlowReturn FrameQueue::open() {
  const std::lock_guard lock(mutex_);
  if (active_) flow_ = GST_FLOW_OK;
  return flow_;
}

void FrameQueue::set_active(bool active) {
  {
    const std::lock_guard lock(mutex_);
    active_ = active;
    if (!active) flow_ = GST_FLOW_FLUSHING;
  }
  wake();
}

GstFlowReturn FrameQueue::wait_slot() {
  std::unique_lock lock(mutex_);
  wait_for(lock, changed_streaming_, [this] { return flow_ != GST_FLOW_OK || in_flight_ < depth_; });
  return flow_;
}

void FrameQueue::push_frame() {
  {
    const std::lock_guard lock(mutex_);
    put({&slots_[next_slot_], nullptr});
    next_slot_ = (next_slot_ + 1) % depth_;
    ++in_flight_;
  }
  changed_task_.notify_one();
}

void FrameQueue::push_event(EventRef event) {
  {
    const std::lock_guard lock(mutex_);
    put({nullptr, std::move(event)});
  }
  changed_task_.notify_one();
}

GstFlowReturn FrameQueue::drain() {
  std::unique_lock lock(mutex_);
  changed_streaming_.wait(lock, [this] { return flow_ != GST_FLOW_OK || (count_ == 0 && !busy_); });
  return flow_;
}

bool FrameQueue::idle() const {
  const std::lock_guard lock(mutex_);
  return count_ == 0 && !busy_;
}

bool FrameQueue::pop(Item& item) {
  std::unique_lock lock(mutex_);
  wait_for(lock, changed_task_, [this] { return flow_ != GST_FLOW_OK || count_ > 0; });
  if (flow_ != GST_FLOW_OK) return false;
  item = take();
  busy_ = true;
  return true;
}

void FrameQueue::frame_done(const FrameSlot& slot) {
  {
    std::unique_lock lock(mutex_);
    changed_watched_.wait(lock, [&] { return watched_ != &slot; });
    --in_flight_;
  }
  changed_streaming_.notify_one();
}

void FrameQueue::item_done() {
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
  }
  changed_streaming_.notify_one();
}

FrameSlot* FrameQueue::oldest_input() const {
  for (std::size_t i = 0; i < count_; ++i)
    if (auto* frame = ring_[(head_ + i) % ring_.size()].frame; frame && frame->in) return frame;
  return nullptr;
}

void FrameQueue::release_inputs(const std::function<void(std::uint64_t number)>& wait) {
  BufferRef released;  // let go without the lock: a pool may do much with a buffer that returns
  std::unique_lock lock(mutex_);
  while (auto* frame = oldest_input()) {
    watched_ = frame;
    lock.unlock();
    released.reset();
    wait(frame->number);
    lock.lock();
    if (frame == oldest_input()) {
      frame->in_map.unmap();
      released = std::move(frame->in);
    }
    watched_ = nullptr;
    changed_watched_.notify_all();
  }
  lock.unlock();
}

void FrameQueue::clear() {
  std::vector<Item> dropped;
  {
    std::unique_lock lock(mutex_);
    changed_watched_.wait(lock, [this] { return watched_ == nullptr; });
    while (count_ > 0) dropped.push_back(take());
    in_flight_ = 0;
    busy_ = false;
    next_slot_ = 0;
  }
  for (auto& slot : slots_) slot.release();
}

void FrameQueue::put(Item item) {
  if (count_ == ring_.size()) {
    std::vector<Item> larger(2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move(ring_[(head_ + i) % ring_.size()]);
    ring_ = std::move(larger);
    head_ = 0;
  }
  ring_[(head_ + count_++) % ring_.size()] = std::move(item);
}

FrameQueue::Item FrameQueue::take() {
  Item item = std::move(ring_[head_]);
  head_ = (head_ + 1) % ring_.size();
  --count_;
  return item;
}

}  // namespace quietframe::gst
