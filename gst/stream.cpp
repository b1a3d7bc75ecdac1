// Frames through the element: the chain function submits, the source task pushes each frame when it is done.
#include "caps.hpp"
#include "debug.hpp"
#include "element.hpp"
#include "guard.hpp"

namespace quietframe::gst {
namespace {

// Everything but the pixels: timestamps, offsets, flags, and all metas except those that describe the memory.
// (gst_buffer_copy_into would also copy GstParentBufferMeta, and with it hold the source's buffer.)
void copy_metadata(GstBuffer* out, GstBuffer* in) {
  gst_buffer_copy_into(out, in,
                       static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0,
                       static_cast<gsize>(-1));
  static const GQuark memory = g_quark_from_static_string(GST_META_TAG_MEMORY_STR);
  static const GQuark reference = g_quark_from_static_string(GST_META_TAG_MEMORY_REFERENCE_STR);
  gpointer state = nullptr;
  while (auto* meta = gst_buffer_iterate_meta(in, &state)) {
    const auto* info = meta->info;
    if (gst_meta_api_type_has_tag(info->api, memory) || gst_meta_api_type_has_tag(info->api, reference))
      continue;
    GstMetaTransformCopy whole{FALSE, 0, static_cast<gsize>(-1)};
    if (info->transform_func)
      info->transform_func(out, meta, in, g_quark_from_static_string("gst-copy"), &whole);
  }
}

GstClockTime elapsed(Clock::time_point since) {
  return static_cast<GstClockTime>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count());
}

}  // namespace

GstFlowReturn VideoDenoise::chain(BufferRef buffer) {
  if (const auto flow = queue_.flow(); flow != GST_FLOW_OK) return flow;
  if (!caps_) {
    GST_ELEMENT_ERROR(element_, CORE, NEGOTIATION,
                      ("A buffer arrived before its caps. Set the caps of appsrc, or put a parser in front."),
                      (nullptr));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  stats.frame_in();
  if (GST_BUFFER_IS_DISCONT(buffer.get())) reset_history_ = true;
  auto snapshot = take_snapshot(buffer.get());
  const bool same_memory = gst_caps_is_equal(caps_.get(), out_caps_.get());
  if (snapshot.passthrough && same_memory) return pass_through(std::move(buffer));
  if (snapshot.element.qos && drop_late(buffer.get())) return GST_FLOW_OK;
  return filter(std::move(buffer), std::move(snapshot));
}

Properties::Snapshot VideoDenoise::take_snapshot(GstBuffer* buffer) {
  const auto time = segment_.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer)
                        ? gst_segment_to_stream_time(&segment_, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
                        : GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(element_), time);
  auto snapshot = properties.snapshot();
  region.apply(snapshot.frame, buffer, snapshot.element.roi_from_meta);
  snapshot.frame.stream_time = GST_CLOCK_TIME_IS_VALID(time) ? static_cast<std::int64_t>(time) : -1;
  return snapshot;
}

GstFlowReturn VideoDenoise::pass_through(BufferRef buffer) {
  if (const auto flow = queue_.drain(); flow != GST_FLOW_OK) return flow;
  if (!passthrough_) set_passthrough(true);
  reset_history_ = true;
  if (discont_) {
    buffer.reset(gst_buffer_make_writable(buffer.release()));
    GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
    discont_ = false;
  }
  stats.passed_through();
  return push(std::move(buffer));
}

// Upstream asks for other memory when frames are filtered than when they are passed on.
void VideoDenoise::set_passthrough(bool passthrough) {
  passthrough_ = passthrough;
  allocated_ = false;
  GST_DEBUG_OBJECT(element_, passthrough ? "frames pass untouched" : "frames are filtered");
  gst_pad_push_event(sink_, gst_event_new_reconfigure());
  update_latency();
}

bool VideoDenoise::drop_late(GstBuffer* buffer) {
  if (segment_.format != GST_FORMAT_TIME) return false;
  const auto pts = GST_BUFFER_PTS(buffer);
  const auto running = gst_segment_to_running_time(&segment_, GST_FORMAT_TIME, pts);
  const auto verdict = qos_.judge(running);
  if (!verdict.late) return false;
  stats.dropped();
  discont_ = true;
  const auto counts = stats.counts();
  auto* message = gst_message_new_qos(GST_OBJECT(element_), FALSE, running,
                                      gst_segment_to_stream_time(&segment_, GST_FORMAT_TIME, pts), pts,
                                      GST_BUFFER_DURATION(buffer));
  gst_message_set_qos_values(message, verdict.jitter, verdict.proportion, 1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, counts.out, counts.dropped);
  gst_element_post_message(element_, message);
  return true;
}

// Configures the processor and the pool where caps or properties ask for it; nothing of that happens per
// frame.
GstFlowReturn VideoDenoise::prepare(const Properties::Snapshot& snapshot, GstBuffer* in) {
  if (!unfilterable_.empty()) throw StreamError(unfilterable_);
  if (passthrough_) set_passthrough(false);
  const bool reconfigure = gst_pad_check_reconfigure(src_);
  if (reconfigure && device_.usable()) {
    const CapsRef before(gst_caps_ref(out_caps_.get()));
    decide_caps(snapshot);
    if (!gst_caps_is_equal(before.get(), out_caps_.get())) {
      if (const auto flow = queue_.drain(); flow != GST_FLOW_OK) return flow;
      if (!push_caps(out_caps_.get())) return GST_FLOW_NOT_NEGOTIATED;
    }
  }
  if (auto* context = device_.context_for(in, is_cuda_caps(out_caps_.get()));
      context && context != device_.used()) {
    if (const auto flow = queue_.drain(); flow != GST_FLOW_OK) return flow;
    format_.width = 0;
    allocated_ = false;
    device_.use(context);
  }
  auto format = format_;
  std::string why;
  if (format.width == 0 || format.bit_depth != snapshot.element.bit_depth)
    format = frame_format(info_, snapshot.element.bit_depth, &why).value();
  const bool other_format = !(format == format_);
  if (other_format || snapshot.element.async_depth != queue_.depth()) {
    if (const auto flow = queue_.drain(); flow != GST_FLOW_OK) return flow;
    format_.width = 0;
    processor_->configure(format, snapshot.element.async_depth);
    queue_.clear();
    queue_.set_depth(snapshot.element.async_depth);
    format_ = format;
    reset_history_ = reset_history_ || other_format;  // another depth is no other stream
    update_latency();
  }
  if (reconfigure || !allocated_) {
    if (const auto flow = queue_.drain(); flow != GST_FLOW_OK) return flow;
    decide_allocation();
  }
  return GST_FLOW_OK;
}

GstFlowReturn VideoDenoise::filter(BufferRef in, Properties::Snapshot snapshot) {
  if (const auto flow = prepare(snapshot, in.get()); flow != GST_FLOW_OK) return flow;
  if (const auto flow = queue_.wait_slot(); flow != GST_FLOW_OK) return flow;
  GstBuffer* fresh = nullptr;
  const auto buffers = pool();
  if (const auto flow = gst_buffer_pool_acquire_buffer(buffers.get(), &fresh, nullptr); flow != GST_FLOW_OK)
    return queue_.flow() != GST_FLOW_OK ? queue_.flow() : flow;
  BufferRef out(fresh);
  copy_metadata(out.get(), in.get());
  if (discont_) GST_BUFFER_FLAG_SET(out.get(), GST_BUFFER_FLAG_DISCONT);
  discont_ = false;
  snapshot.frame.reset_history = reset_history_;
  reset_history_ = false;
  submit(std::move(in), std::move(out), snapshot.frame);
  return GST_FLOW_OK;
}

void VideoDenoise::submit(BufferRef in, BufferRef out, const FrameSettings& settings) {
  auto& slot = queue_.next_slot();
  try {
    slot.arrived = Clock::now();
    const MapTarget target{device_.used(), page_lock_};
    const auto from = slot.in_map.map(in.get(), info_, format_, GST_MAP_READ, target);
    const auto to = slot.out_map.map(out.get(), info_, format_, GST_MAP_WRITE, target);
    for (auto* buffer : {in.get(), out.get()}) device_.order_after(buffer);
    reporter_.memory(from.memory, to.memory);
    slot.in = std::move(in);
    slot.out = std::move(out);
    processor_->set_timing(want_timing_);
    slot.number = processor_->submit(from, to, settings);
  } catch (...) {
    slot.release();
    throw;
  }
  queue_.push_frame();
  input_release_.notice();
}

void VideoDenoise::loop() {
  FrameQueue::Item item;
  if (!queue_.pop(item)) {
    gst_pad_pause_task(src_);
    return;
  }
  if (item.event) {
    gst_pad_push_event(src_, item.event.release());
  } else {
    explained_ = true;  // by guard, unless deliver returns
    const auto flow = guard(element_, GST_FLOW_ERROR, [&] {
      const auto result = deliver(*item.frame);
      explained_ = false;
      return result;
    });
    if (flow != GST_FLOW_OK) {
      GST_DEBUG_OBJECT(element_, "source pad stops: %s", gst_flow_get_name(flow));
      queue_.fail(flow);
      gst_pad_pause_task(src_);
    }
  }
  queue_.item_done();
}

GstFlowReturn VideoDenoise::deliver(FrameSlot& slot) {
  const auto report = processor_->wait(slot.number);
  slot.in_map.unmap();
  slot.in.reset();
  slot.out_map.unmap();
  BufferRef out = std::move(slot.out);
  const auto delay = elapsed(slot.arrived);
  queue_.frame_done(slot);
  stats.frame_out(report, static_cast<float>(delay) / 1000.f);
  latency_.measure(delay);
  post_latency();
  return push(std::move(out));
}

GstFlowReturn VideoDenoise::push(BufferRef buffer) {
  const auto flow = gst_pad_push(src_, buffer.release());
  if (reporter_.frame_out(stats, properties.stats_interval())) want_timing();
  return flow;
}

}  // namespace quietframe::gst
