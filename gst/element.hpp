// The element `videodenoise`: a GstElement of its own, because frames in flight need what GstBaseTransform
// has not: draining, ordered events, waits that can be flushed, and a source pad that pushes by itself.
#pragma once
#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "device_memory.hpp"
#include "frame_queue.hpp"
#include "input_release.hpp"
#include "latency.hpp"
#include "owners.hpp"
#include "processor.hpp"
#include "properties.hpp"
#include "qos.hpp"
#include "region_settings.hpp"
#include "reporter.hpp"
#include "stats.hpp"

G_BEGIN_DECLS
GType gst_video_denoise_get_type(void);
G_END_DECLS

namespace quietframe::gst {

/// All of one element but its GObject shell. The streaming thread is the one that holds the sink pad's stream
/// lock; the source task is the thread that runs loop().
class VideoDenoise {
 public:
  VideoDenoise(GstElement* element, GstPad* sink, GstPad* src);
  ~VideoDenoise();

  Properties properties;
  RegionSettings region;
  Stats stats;

  /// READY to PAUSED: chooses the backend. Throws Error when the one asked for cannot be had.
  void start();
  /// PAUSED to READY, after both pads are inactive.
  void stop();
  const char* active_backend() const { return active_backend_; }
  /// Upload, kernel and download are timed from now on.
  void want_timing() { want_timing_ = true; }

  bool activate_sink(bool active);
  bool activate_src(bool active);

  // element.cpp's pad functions call these; ownership as in GstPad's.
  GstFlowReturn chain(BufferRef buffer);
  bool sink_event(EventRef event);
  bool src_event(EventRef event);
  bool sink_query(GstQuery* query);
  bool src_query(GstQuery* query);
  /// A context that a neighbour or the application offers.
  void set_context(GstContext* context);

 private:
  // stream.cpp: frames
  void loop();
  GstFlowReturn pass_through(BufferRef buffer);
  GstFlowReturn filter(BufferRef buffer, Properties::Snapshot snapshot);
  GstFlowReturn prepare(const Properties::Snapshot& snapshot, GstBuffer* in);
  Properties::Snapshot take_snapshot(GstBuffer* buffer);
  bool drop_late(GstBuffer* buffer);
  GstFlowReturn push(BufferRef buffer);
  void submit(BufferRef in, BufferRef out, const FrameSettings& settings);
  GstFlowReturn deliver(FrameSlot& slot);
  void set_passthrough(bool passthrough);

  // events.cpp
  bool flush_start(EventRef event);
  bool flush_stop(EventRef event);
  bool serialized_event(EventRef event);
  bool event_after_failure(EventRef event, GstFlowReturn flow);
  bool set_caps(EventRef event);
  bool push_caps(GstCaps* caps);
  void revive();
  bool start_task();
  void drop_in_flight();

  // negotiation.cpp
  bool query_caps(GstPad* pad, GstQuery* query);
  void decide_caps(const Properties::Snapshot& snapshot);
  bool accept_caps(GstQuery* query);
  CapsRef with_passthrough_caps(GstPad* pad, GstCaps* filter, CapsRef caps);
  bool propose_allocation(GstQuery* query);
  void decide_allocation();
  PoolRef make_pool(GstCaps* caps);
  void set_pool(PoolRef pool);
  PoolRef pool();
  bool query_latency(GstQuery* query);
  void update_latency();
  void post_latency();

  GstElement* const element_;
  GstPad* const sink_;
  GstPad* const src_;

  std::unique_ptr<Processor> processor_;
  std::atomic<const char*> active_backend_ = "none";
  AllocatorRef allocator_;
  DeviceMemory device_;
  FrameQueue queue_;
  InputRelease input_release_;
  Qos qos_;
  LatencyReport latency_;
  Reporter reporter_;

  // Streaming thread.
  GstSegment segment_;
  CapsRef caps_;
  std::string unfilterable_;  ///< why frames with caps_ can pass, but not be filtered
  CapsRef out_caps_;          ///< caps_, perhaps in another memory
  GstVideoInfo info_;
  FrameFormat format_;       ///< the processor's; width 0: not configured
  bool page_lock_ = false;   ///< the GPU reads and writes frames
  bool allocated_ = false;   ///< pool_ suits caps_
  bool passthrough_ = true;  ///< frames are pushed from the streaming thread
  bool reset_history_ = true;
  bool discont_ = false;  ///< a frame was dropped before the next
  std::vector<GType> downstream_metas_;

  std::atomic<bool> explained_ = false;  ///< an element error says why frames no longer flow
  std::atomic<bool> want_timing_ = false;
  std::mutex pool_mutex_;  ///< guards pool_, which flushing reaches from any thread
  PoolRef pool_;
};

}  // namespace quietframe::gst
