// Events, flushing, and the element's life between READY and PAUSED.
#include "allocator.hpp"
#include "caps.hpp"
#include "debug.hpp"
#include "element.hpp"
#include "guard.hpp"

namespace quietframe::gst {

VideoDenoise::VideoDenoise(GstElement* element, GstPad* sink, GstPad* src)
    : element_(element), sink_(sink), src_(src), device_(element), reporter_(element) {
  gst_segment_init(&segment_, GST_FORMAT_UNDEFINED);
  gst_video_info_init(&info_);
}

VideoDenoise::~VideoDenoise() { stop(); }

void VideoDenoise::start() {
  const auto wanted = properties.snapshot();
  region.check();
  auto selected = select_backend({wanted.element.backend, wanted.element.cuda_device_id, 0});
  processor_ = std::move(selected.processor);
  active_backend_ = processor_->info().backend;
  const bool cuda = active_backend_.load() == std::string_view("cuda");
  if (wanted.element.backend == BackendChoice::automatic && !cuda)
    GST_WARNING_OBJECT(element_, "%s", selected.reason.c_str());
  else
    GST_INFO_OBJECT(element_, "%s", selected.reason.c_str());
  device_.start(*processor_);
  page_lock_ = cuda;
  allocator_.reset(host_allocator(cuda ? HostMemoryKind::pinned : HostMemoryKind::ordinary));
  host_allocator_use(allocator_.get());
  reporter_.start(cuda);
  stats.reset(active_backend_.load());
  qos_.reset();
  latency_.configure(GST_CLOCK_TIME_NONE, wanted.element.async_depth, wanted.passthrough);
  latency_.take_change();
  passthrough_ = wanted.passthrough;
  reset_history_ = true;
  discont_ = false;
  gst_segment_init(&segment_, GST_FORMAT_UNDEFINED);
  input_release_.start(
      [this] { queue_.release_inputs([this](std::uint64_t frame) { processor_->wait_input(frame); }); });
}

void VideoDenoise::stop() {
  if (!processor_) return;
  input_release_.stop();
  drop_in_flight();
  set_pool(nullptr);
  allocated_ = false;
  caps_.reset();
  out_caps_.reset();
  format_ = {};
  processor_.reset();
  device_.stop();
  active_backend_ = "none";
  host_allocator_unuse(allocator_.get());
  allocator_.reset();
}

// The order of gstqueue: unblock, wait for the streaming thread, leave the rest to stop().
bool VideoDenoise::activate_sink(bool active) {
  if (active) return true;
  queue_.fail(GST_FLOW_FLUSHING);
  if (const auto p = pool()) gst_buffer_pool_set_flushing(p.get(), TRUE);
  GST_PAD_STREAM_LOCK(sink_);
  GST_PAD_STREAM_UNLOCK(sink_);
  return true;
}

bool VideoDenoise::activate_src(bool active) {
  queue_.set_active(active);
  if (active) {
    queue_.open();
    return start_task();
  }
  if (const auto p = pool()) gst_buffer_pool_set_flushing(p.get(), TRUE);
  return gst_pad_stop_task(src_);
}

bool VideoDenoise::start_task() {
  auto run = [](gpointer self) { static_cast<VideoDenoise*>(self)->loop(); };
  return gst_pad_start_task(src_, run, this, nullptr);
}

bool VideoDenoise::sink_event(EventRef event) {
  switch (GST_EVENT_TYPE(event.get())) {
    case GST_EVENT_FLUSH_START:
      return flush_start(std::move(event));
    case GST_EVENT_FLUSH_STOP:
      return flush_stop(std::move(event));
    default:
      break;
  }
  if (!GST_EVENT_IS_SERIALIZED(event.get())) return gst_pad_push_event(src_, event.release());
  return serialized_event(std::move(event));
}

// Downstream first, so that a push that blocks there returns; then the waits in here.
bool VideoDenoise::flush_start(EventRef event) {
  const bool ok = gst_pad_push_event(src_, event.release());
  queue_.close(GST_FLOW_FLUSHING);
  if (const auto p = pool()) gst_buffer_pool_set_flushing(p.get(), TRUE);
  gst_pad_pause_task(src_);
  return ok;
}

bool VideoDenoise::flush_stop(EventRef event) {
  queue_.close(GST_FLOW_FLUSHING);
  gst_pad_pause_task(src_);
  drop_in_flight();
  qos_.reset();
  gst_segment_init(&segment_, GST_FORMAT_UNDEFINED);
  const bool ok = gst_pad_push_event(src_, event.release());
  revive();
  return ok;
}

// Frames that the GPU still works on must be done before their memory goes.
void VideoDenoise::drop_in_flight() {
  if (processor_) processor_->drain();
  queue_.clear();
  reset_history_ = true;
  discont_ = false;
}

void VideoDenoise::revive() {
  if (const auto p = pool()) gst_buffer_pool_set_flushing(p.get(), FALSE);
  if (queue_.open() == GST_FLOW_OK) start_task();
}

namespace {

// Events that change what follows; all before them is pushed first. The others travel between the frames.
bool must_drain(GstEventType type) {
  switch (type) {
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_STREAM_START:
    case GST_EVENT_CAPS:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool VideoDenoise::serialized_event(EventRef event) {
  const auto type = GST_EVENT_TYPE(event.get());
  auto flow = must_drain(type) ? queue_.drain() : queue_.flow();
  if (flow == GST_FLOW_EOS && (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT)) {
    // Downstream wanted no more of what was; this is new.
    gst_pad_pause_task(src_);
    drop_in_flight();
    revive();
    flow = queue_.flow();
  }
  if (flow != GST_FLOW_OK) return event_after_failure(std::move(event), flow);
  if (type == GST_EVENT_CAPS) return set_caps(std::move(event));
  if (type == GST_EVENT_SEGMENT) {
    gst_event_copy_segment(event.get(), &segment_);
    reset_history_ = true;
  }
  if (queue_.idle()) return gst_pad_push_event(src_, event.release());
  queue_.push_event(std::move(event));
  return true;
}

// Nothing follows a failure but the end: EOS must still say why, as gstqueue does it, unless that was said.
bool VideoDenoise::event_after_failure(EventRef event, GstFlowReturn flow) {
  const auto type = GST_EVENT_TYPE(event.get());
  if (flow == GST_FLOW_FLUSHING) return false;
  if (type == GST_EVENT_EOS && !explained_ && (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS))
    GST_ELEMENT_FLOW_ERROR(element_, flow);
  if (type == GST_EVENT_EOS || GST_EVENT_IS_STICKY(event.get()))
    return gst_pad_push_event(src_, event.release());
  return false;
}

bool VideoDenoise::set_caps(EventRef event) {
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event.get(), &caps);
  GstVideoInfo info;
  gst_video_info_init(&info);
  std::string why = "they are not video/x-raw with a format, a width and a height";
  const auto snapshot = properties.snapshot();
  const bool system =
      gst_caps_features_is_equal(gst_caps_get_features(caps, 0), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
  const bool reachable = system || (is_cuda_caps(caps) && device_.usable());
  if (!reachable)
    why = "their memory cannot be reached; put its download element (gldownload, cudadownload, ...) in front";
  const bool parsed = reachable && gst_video_info_from_caps(&info, caps);
  std::string unfilterable;
  if (!parsed || !frame_format(info, snapshot.element.bit_depth, &why)) {
    const StringRef text(gst_caps_to_string(caps));
    unfilterable = "Caps " + std::string(text.get()) + " cannot be filtered: " + why + ".";
    if (!snapshot.passthrough) throw StreamError(unfilterable);
  }
  unfilterable_ = unfilterable;
  if (!caps_ || !gst_caps_is_equal(caps, caps_.get())) {
    caps_.reset(gst_caps_ref(caps));
    info_ = info;
    format_.width = 0;
    allocated_ = false;
    reset_history_ = true;
    qos_.reset();
  }
  decide_caps(snapshot);
  if (gst_caps_is_equal(caps, out_caps_.get()) ? !gst_pad_push_event(src_, event.release())
                                               : !push_caps(out_caps_.get()))
    return false;
  update_latency();
  return true;
}

bool VideoDenoise::push_caps(GstCaps* caps) { return gst_pad_push_event(src_, gst_event_new_caps(caps)); }

bool VideoDenoise::src_event(EventRef event) {
  if (GST_EVENT_TYPE(event.get()) == GST_EVENT_QOS) {
    double proportion;
    GstClockTimeDiff diff;
    GstClockTime timestamp;
    gst_event_parse_qos(event.get(), nullptr, &proportion, &diff, &timestamp);
    qos_.update(proportion, diff, timestamp);
  }
  // A branch that was linked again takes frames again.
  if (GST_EVENT_TYPE(event.get()) == GST_EVENT_RECONFIGURE && queue_.flow() == GST_FLOW_NOT_LINKED) {
    revive();
  }
  return gst_pad_push_event(sink_, event.release());
}

}  // namespace quietframe::gst
