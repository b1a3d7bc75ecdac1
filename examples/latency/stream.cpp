// Feeds appsrc on the clock's beat and reads the times off pad probes, matched by timestamp.
#include "latency/stream.hpp"

#include <fmt/core.h>
#include <gst/app/gstappsrc.h>

#include <algorithm>
#include <map>

#include "common/denoise_stats.hpp"
#include "common/test_frames.hpp"

namespace quietframe::examples {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t ring_frames = 8;  // different frames that are fed in turn
constexpr auto first_frame_timeout = std::chrono::seconds(60);
// What may pass between the first frame and the end of the measurement, beside the measurement itself: other
// streams that are built meanwhile, and the warm-up.
constexpr double most_seconds_before = 120;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

// Room for every frame of the run; without a rate, for as many as a fast part may take.
std::size_t room_for(const StreamRequest& r) {
  const double rate = r.rate > 0 ? r.rate : 20000;
  return static_cast<std::size_t>((r.seconds * 1.2 + most_seconds_before) * rate) + 16;
}

std::string describe(const StreamRequest& r) {
  // A camera does not wait: what the pipeline does not take in time is dropped at the source, the oldest
  // first.
  const char* queue =
      r.rate > 0 ? "is-live=true block=false leaky-type=downstream" : "is-live=false block=true";
  return fmt::format(
      "appsrc name=source format=time max-buffers=2 max-bytes=0 {} ! bin.( name=part {} ) ! "
      "fakesink name=sink sync={} qos={} enable-last-sample=false",
      queue, r.part, r.sync, r.sync);
}

// The frames that all streams of this layout are fed with: drawn at the first call and kept, because drawing
// takes longer than copying.
const std::vector<Owned<GstBuffer>>& drawn_frames(const GstVideoInfo& info) {
  static std::map<std::string, std::vector<Owned<GstBuffer>>> all;
  auto& frames = all[fmt::format("{} {}x{}", gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)),
                                 GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info))];
  while (frames.size() < ring_frames) {
    frames.emplace_back(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
    draw_test_frame(frames.back().get(), info, static_cast<int>(frames.size()) - 1);
  }
  return frames;
}

void copy_frame(GstBuffer* to, GstBuffer* from, GstVideoInfo info) {
  GstVideoFrame read, written;
  const bool readable = gst_video_frame_map(&read, &info, from, GST_MAP_READ) != FALSE;
  const bool writable = gst_video_frame_map(&written, &info, to, GST_MAP_WRITE) != FALSE;
  const bool copied = readable && writable && gst_video_frame_copy(&written, &read) != FALSE;
  if (writable) gst_video_frame_unmap(&written);
  if (readable) gst_video_frame_unmap(&read);
  if (!copied) throw PipelineError("a test frame cannot be written");
}

// The one pad of a kind that an element with a single input and output has; null where there are more or
// none.
Owned<GstPad> only_pad(GstElement* element, bool sink) {
  const GList* pads = sink ? element->sinkpads : element->srcpads;
  if (pads == nullptr || pads->next != nullptr) return nullptr;
  return Owned<GstPad>(GST_PAD(gst_object_ref(pads->data)));
}

}  // namespace

Stream::Stream(const StreamRequest& request)
    : request_(request),
      most_frames_(room_for(request)),
      pipeline_(describe(request)),
      source_(pipeline_.element("source")),
      sink_(pipeline_.element("sink")),
      part_(pipeline_.element("part")) {
  // Without a rate, timestamps a millisecond apart only number the frames.
  const int rate = request.rate > 0 ? static_cast<int>(request.rate * 1000 + 0.5) : 1000 * 1000;
  duration_ = gst_util_uint64_scale_int(GST_SECOND, 1000, rate);
  const Owned<GstCaps> caps = video_caps(request.format.c_str(), request.width, request.height, rate, 1000);
  gst_video_info_from_caps(&info_, caps.get());
  g_object_set(source_.get(), "caps", caps.get(), nullptr);
  points_.push_back(
      std::make_unique<Point>(Point{this, "push", false, std::vector<std::int64_t>(most_frames_)}));
  const Owned<GstPad> source_pad = only_pad(source_.get(), false), sink_pad = only_pad(sink_.get(), true);
  add_point(source_pad.get(), "source", false);
  add_points_of_part();
  add_point(sink_pad.get(), "sink", true);
  make_frames(false);
  pipeline_.set_state(GST_STATE_PLAYING);
  try {
    begin();
  } catch (...) {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    throw;
  }
}

Stream::~Stream() {
  stopping_ = true;
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  if (feeder_.joinable()) feeder_.join();
}

void Stream::add_point(GstPad* pad, const std::string& name, bool last) {
  points_.push_back(
      std::make_unique<Point>(Point{this, name, last, std::vector<std::int64_t>(most_frames_)}));
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, &Stream::on_buffer, points_.back().get(), nullptr);
}

// Follows the chain of elements inside the part: a point where each one's output is.
void Stream::add_points_of_part() {
  const Owned<GstPad> ghost = only_pad(part_.get(), true);
  Owned<GstPad> pad(ghost ? gst_ghost_pad_get_target(GST_GHOST_PAD(ghost.get())) : nullptr);
  while (pad) {
    GstElement* element = GST_PAD_PARENT(pad.get());
    const Owned<GstPad> out = only_pad(element, false);
    if (!out || GST_OBJECT_PARENT(element) != GST_OBJECT(part_.get())) break;
    add_point(out.get(), GST_OBJECT_NAME(element), false);
    pad.reset(gst_pad_get_peer(out.get()));
    if (pad && (GST_IS_GHOST_PAD(pad.get()) || GST_IS_PROXY_PAD(pad.get()))) break;
  }
}

// What the part answers to an ALLOCATION query, as a source element would ask; null where it offers no pool.
Owned<GstBufferPool> Stream::offered_pool() const {
  const Owned<GstPad> pad = only_pad(source_.get(), false);
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad.get()));
  GstQuery* query = gst_query_new_allocation(caps.get(), TRUE);
  GstBufferPool* pool = nullptr;
  guint size = 0, min = 0, max = 0;
  if (gst_pad_peer_query(pad.get(), query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  if (gst_query_get_n_allocation_params(query) > 0)
    gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  if (pool != nullptr) {
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps.get(),
                                      std::max<guint>(size, static_cast<guint>(info_.size)), 0, 0);
    if (allocator != nullptr) gst_buffer_pool_config_set_allocator(config, allocator, &params);
    if (gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META) != FALSE)
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
      g_clear_object(&pool);
  }
  g_clear_object(&allocator);
  gst_query_unref(query);
  return Owned<GstBufferPool>(pool);
}

void Stream::make_frames(bool offered) {
  const Owned<GstBufferPool> pool = offered ? offered_pool() : nullptr;
  if (offered && !pool) return;
  std::vector<Owned<GstBuffer>> made;
  for (const auto& drawn : drawn_frames(info_)) {
    GstBuffer* buffer = nullptr;
    if (!pool)
      buffer = gst_buffer_new_allocate(nullptr, info_.size, nullptr);
    else if (gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr) != GST_FLOW_OK)
      throw PipelineError("the pool that was offered gives no buffer");
    made.emplace_back(buffer);
    copy_frame(buffer, drawn.get(), info_);
  }
  frames_ = std::move(made);
}

void Stream::push(std::uint64_t number) {
  GstBuffer* buffer = gst_buffer_copy(frames_[number % ring_frames].get());
  GST_BUFFER_PTS(buffer) = first_pts_ + number * duration_;
  GST_BUFFER_DURATION(buffer) = duration_;
  points_[0]->stamp[number] = now_ns();
  gst_app_src_push_buffer(GST_APP_SRC(source_.get()), buffer);
}

// The first frame negotiates and allocates; when it is through, the part can be asked for its memory.
void Stream::begin() {
  push(0);
  pushed_ = 1;
  const auto deadline = Clock::now() + first_frame_timeout;
  while (arrived_ == 0) {
    check();
    if (Clock::now() > deadline) throw PipelineError("no frame came through within a minute");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (request_.offered_memory) make_frames(true);
  const Owned<GstClock> clock(gst_element_get_clock(pipeline_.get()));
  if (clock && request_.rate > 0) {
    const GstClockTime running = gst_clock_get_time(clock.get()) - gst_element_get_base_time(pipeline_.get());
    first_pts_ = running > duration_ ? running - duration_ : 0;  // the next frame is number 1
  }
  feeder_ = std::thread([this] { feed(); });
}

void Stream::feed() {
  const std::uint64_t first = pushed_;
  auto start = Clock::now();
  if (request_.phase >= 0) {
    const auto interval = std::chrono::nanoseconds(duration_);
    const auto offset = std::chrono::duration_cast<std::chrono::nanoseconds>(interval * request_.phase);
    start += interval - (start.time_since_epoch() - offset) % interval;
  }
  for (std::uint64_t n = first; !stopping_ && n < most_frames_; ++n) {
    if (request_.rate > 0)
      std::this_thread::sleep_until(start + std::chrono::nanoseconds(duration_ * (n - first)));
    push(n);
    pushed_ = n + 1;
  }
}

std::uint64_t Stream::number_of(GstBuffer* buffer) const {
  if (!GST_BUFFER_PTS_IS_VALID(buffer) || GST_BUFFER_PTS(buffer) + duration_ / 2 < first_pts_) return 0;
  return (GST_BUFFER_PTS(buffer) + duration_ / 2 - first_pts_) / duration_;
}

GstPadProbeReturn Stream::on_buffer(GstPad*, GstPadProbeInfo* info, gpointer user) {
  auto* point = static_cast<Point*>(user);
  const std::uint64_t number = point->stream->number_of(GST_PAD_PROBE_INFO_BUFFER(info));
  if (number < point->stream->most_frames_) point->stamp[number] = now_ns();
  if (point->last) ++point->stream->arrived_;
  return GST_PAD_PROBE_OK;
}

void Stream::start() {
  first_measured_ = pushed_;
  started_ = Clock::now();
}

StreamResult Stream::finish(double window_seconds) {
  StreamResult result;
  stopping_ = true;
  feeder_.join();
  result.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  gst_app_src_end_of_stream(GST_APP_SRC(source_.get()));
  pipeline_.wait_eos(60 * GST_SECOND);
  const Owned<GstElement> denoise(gst_bin_get_by_name(GST_BIN(part_.get()), "denoise"));
  if (denoise) {
    const DenoiseStats stats = denoise_stats(denoise.get());
    result.backend = stats.backend;
    result.memory = stats.memory;
  }
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  const auto started_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(started_.time_since_epoch()).count();
  for (std::size_t p = 1; p < points_.size(); ++p) result.legs.push_back({points_[p]->name, {}});
  result.pushed = pushed_ - first_measured_;
  for (std::uint64_t n = first_measured_; n < pushed_; ++n) {
    Window* window = nullptr;
    if (window_seconds > 0) {
      const double at = static_cast<double>(points_[0]->stamp[n] - started_ns) * 1e-9;
      const auto index = static_cast<std::size_t>(std::max(at, 0.) / window_seconds);
      if (index >= result.windows.size()) result.windows.resize(index + 1);
      window = &result.windows[index];
      ++window->pushed;
    }
    if (points_.back()->stamp[n] == 0) continue;
    ++result.arrived;
    const double us = static_cast<double>(points_.back()->stamp[n] - points_[0]->stamp[n]) * 1e-3;
    result.whole.add(us);
    if (window) window->times.add(us);
    for (std::size_t p = 1; p < points_.size(); ++p)
      if (points_[p]->stamp[n] != 0 && points_[p - 1]->stamp[n] != 0)
        result.legs[p - 1].times.add(static_cast<double>(points_[p]->stamp[n] - points_[p - 1]->stamp[n]) *
                                     1e-3);
  }
  return result;
}

}  // namespace quietframe::examples
