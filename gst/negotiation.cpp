// Queries: caps, allocation, latency.
#include <algorithm>

#include "allocator.hpp"
#include "buffer_pool.hpp"
#include "caps.hpp"
#include "debug.hpp"
#include "element.hpp"
#include "guard.hpp"

namespace quietframe::gst {
namespace {

// Upstream that has both should hand over device memory: it need not cross the bus then.
CapsRef cuda_first(CapsRef caps) {
  CapsRef sorted(gst_caps_new_empty());
  for (const bool cuda : {true, false})
    for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
      CapsRef one(gst_caps_copy_nth(caps.get(), i));
      if (is_cuda_caps(one.get()) == cuda) gst_caps_append(sorted.get(), one.release());
    }
  return sorted;
}

// For GST_PTR_FORMAT, which is a %p to the compiler.
void* printable(void* p) { return p; }

}  // namespace

bool VideoDenoise::sink_query(GstQuery* query) {
  if (GST_QUERY_IS_SERIALIZED(query) && queue_.drain() != GST_FLOW_OK) return false;
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CONTEXT:
      return device_.answer_context(query) || gst_pad_query_default(sink_, GST_OBJECT(element_), query);
    case GST_QUERY_CAPS:
      return query_caps(sink_, query);
    case GST_QUERY_ACCEPT_CAPS:
      return accept_caps(query);
    case GST_QUERY_ALLOCATION:
      return propose_allocation(query);
    default:
      return gst_pad_query_default(sink_, GST_OBJECT(element_), query);
  }
}

bool VideoDenoise::src_query(GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CONTEXT:
      return device_.answer_context(query) || gst_pad_query_default(src_, GST_OBJECT(element_), query);
    case GST_QUERY_CAPS:
      return query_caps(src_, query);
    case GST_QUERY_ACCEPT_CAPS:
      return accept_caps(query);
    case GST_QUERY_LATENCY:
      return query_latency(query);
    default:
      return gst_pad_query_default(src_, GST_OBJECT(element_), query);
  }
}

// Caps are the same on both sides, but for the memory: what the other side takes, and the element does.
bool VideoDenoise::query_caps(GstPad* pad, GstQuery* query) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  const CapsRef own(device_.caps());
  const CapsRef ours(filter ? gst_caps_intersect_full(filter, own.get(), GST_CAPS_INTERSECT_FIRST)
                            : gst_caps_ref(own.get()));
  const CapsRef asked(device_.other_side(ours.get()));
  const CapsRef beyond(gst_pad_peer_query_caps(pad == sink_ ? src_ : sink_, asked.get()));
  const CapsRef peer(device_.other_side(beyond.get()));
  CapsRef result(gst_caps_intersect_full(peer.get(), ours.get(), GST_CAPS_INTERSECT_FIRST));
  if (pad == sink_) result = cuda_first(std::move(result));
  if (properties.snapshot().passthrough) result = with_passthrough_caps(pad, filter, std::move(result));
  if (gst_caps_is_empty(result.get()) && filter)
    GST_INFO_OBJECT(pad,
                    "none of %" GST_PTR_FORMAT " can be taken; the element takes %" GST_PTR_FORMAT
                    ", the other side %" GST_PTR_FORMAT,
                    printable(filter), printable(own.get()), printable(peer.get()));
  gst_query_set_caps_result(query, result.get());
  return true;
}

// A frame that is not touched may be of any format in any memory that both sides know.
CapsRef VideoDenoise::with_passthrough_caps(GstPad* pad, GstCaps* filter, CapsRef caps) {
  const CapsRef any(passthrough_caps());
  const CapsRef ours(filter ? gst_caps_intersect_full(filter, any.get(), GST_CAPS_INTERSECT_FIRST)
                            : gst_caps_ref(any.get()));
  const CapsRef peer(gst_pad_peer_query_caps(pad == sink_ ? src_ : sink_, ours.get()));
  CapsRef all(gst_caps_make_writable(caps.release()));
  gst_caps_append(all.get(), gst_caps_intersect_full(peer.get(), ours.get(), GST_CAPS_INTERSECT_FIRST));
  return all;
}

bool VideoDenoise::accept_caps(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_accept_caps(query, &caps);
  GstVideoInfo info;
  std::string why = "they are not video/x-raw in system memory with a format, a width and a height";
  const CapsRef own(device_.caps());
  const auto* features = gst_caps_is_fixed(caps) ? gst_caps_get_features(caps, 0) : nullptr;
  const bool memory =
      features && (gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY) ||
                   (is_cuda_caps(caps) && gst_caps_can_intersect(own.get(), caps)));
  const CapsRef any(passthrough_caps());
  const bool ok = (memory && gst_video_info_from_caps(&info, caps) && frame_format(info, 0, &why)) ||
                  (properties.snapshot().passthrough && gst_caps_can_intersect(any.get(), caps));
  if (!ok)
    GST_WARNING_OBJECT(element_, "caps %" GST_PTR_FORMAT " are refused: %s", printable(caps), why.c_str());
  gst_query_set_accept_caps_result(query, ok);
  return true;
}

namespace {

void configure_pool(GstBufferPool* pool, GstCaps* caps, guint size, guint min, guint max) {
  auto* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  for (const char* option : {GST_BUFFER_POOL_OPTION_VIDEO_META, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT})
    gst_buffer_pool_config_add_option(config, option);
  gst_buffer_pool_set_config(pool, config);
}

}  // namespace

bool VideoDenoise::propose_allocation(GstQuery* query) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  GstVideoInfo info;
  if (!caps || !allocator_ || !gst_video_info_from_caps(&info, caps)) return false;
  const auto snapshot = properties.snapshot();
  const bool same_memory = !out_caps_ || is_cuda_caps(caps) == is_cuda_caps(out_caps_.get());
  if (snapshot.passthrough && same_memory) return gst_pad_peer_query(src_, query);

  const auto size = static_cast<guint>(info.size);
  const auto held = static_cast<guint>(snapshot.element.async_depth);  // inputs that wait for their upload
  PoolRef proposed;
  if (need_pool) {
    proposed = make_pool(caps);
    configure_pool(proposed.get(), caps, size, held, 0);
  }
  gst_query_add_allocation_pool(query, proposed.get(), size, held, 0);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  // A pool alone is not enough: base classes take the allocator from here.
  if (!is_cuda_caps(caps)) gst_query_add_allocation_param(query, allocator_.get(), &params);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  for (const auto api : downstream_metas_) gst_query_add_allocation_meta(query, api, nullptr);
  return true;
}

namespace {

// Takes over `pool` of downstream where it can give the frames that are in flight here at once.
bool use_downstream_pool(GstBufferPool* pool, GstCaps* caps, guint size, guint min, guint max, guint held,
                         bool video_meta) {
  if (max > 0 && max < min + held) return false;
  auto* config = gst_buffer_pool_get_config(pool);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (video_meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool, config)) return true;
  // It changed something; that is fine as long as the frames still fit.
  config = gst_buffer_pool_get_config(pool);
  if (gst_buffer_pool_config_validate_params(config, caps, size, min, max))
    return gst_buffer_pool_set_config(pool, config);
  gst_structure_free(config);
  return false;
}

}  // namespace

PoolRef VideoDenoise::make_pool(GstCaps* caps) {
  return is_cuda_caps(caps) ? device_.make_pool() : PoolRef(make_buffer_pool(allocator_.get()));
}

void VideoDenoise::decide_caps(const Properties::Snapshot& snapshot) {
  CapsRef decided(device_.output_caps(src_, caps_.get(), snapshot.passthrough));
  if (!out_caps_ || !gst_caps_is_equal(decided.get(), out_caps_.get())) allocated_ = false;
  out_caps_ = std::move(decided);
  if (is_cuda_caps(caps_.get()) || is_cuda_caps(out_caps_.get()))
    device_.ensure(snapshot.element.cuda_device_id);
}

void VideoDenoise::decide_allocation() {
  const QueryRef query(gst_query_new_allocation(out_caps_.get(), TRUE));
  if (!gst_pad_peer_query(src_, query.get())) GST_DEBUG_OBJECT(element_, "downstream proposes no allocation");
  const bool video_meta = gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr);
  downstream_metas_.clear();
  static const GQuark memory = g_quark_from_static_string(GST_META_TAG_MEMORY_STR);
  for (guint i = 0; i < gst_query_get_n_allocation_metas(query.get()); ++i) {
    const auto api = gst_query_parse_nth_allocation_meta(query.get(), i, nullptr);
    if (!gst_meta_api_type_has_tag(api, memory)) downstream_metas_.push_back(api);
  }

  const auto held = static_cast<guint>(queue_.depth()) + 1;
  PoolRef chosen;
  guint min = 0;
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query.get()) && !chosen; ++i) {
    GstBufferPool* offered = nullptr;
    guint size = 0, max = 0;
    gst_query_parse_nth_allocation_pool(query.get(), i, &offered, &size, &min, &max);
    PoolRef candidate(offered);
    const bool fits =
        !is_cuda_caps(out_caps_.get()) || (candidate && cuda_context_of(candidate.get()) == device_.used());
    if (candidate && fits &&
        use_downstream_pool(candidate.get(), out_caps_.get(), std::max(size, static_cast<guint>(info_.size)),
                            min, max, held, video_meta))
      chosen = std::move(candidate);
  }
  const bool downstream = chosen != nullptr;
  if (!chosen) {
    chosen = make_pool(out_caps_.get());
    auto* config = gst_buffer_pool_get_config(chosen.get());
    gst_buffer_pool_config_set_params(config, out_caps_.get(), static_cast<guint>(info_.size), min + held, 0);
    if (video_meta || is_cuda_caps(out_caps_.get()))
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (!gst_buffer_pool_set_config(chosen.get(), config))
      throw Error("The buffer pool for " + std::to_string(info_.width) + "x" + std::to_string(info_.height) +
                  " frames was refused.");
  }
  if (!gst_buffer_pool_set_active(chosen.get(), TRUE))
    throw Error("Frames of " + std::to_string(info_.size) +
                " bytes could not be allocated. Lower async-depth, or raise the memory limit.");
  GST_INFO_OBJECT(element_, "output buffers come from %s: %" GST_PTR_FORMAT,
                  downstream ? "downstream's pool" : "our pool", printable(chosen.get()));
  set_pool(std::move(chosen));
  allocated_ = true;
}

void VideoDenoise::set_pool(PoolRef pool) {
  {
    const std::lock_guard lock(pool_mutex_);
    pool.swap(pool_);
  }
  if (pool) gst_buffer_pool_set_active(pool.get(), FALSE);
}

PoolRef VideoDenoise::pool() {
  const std::lock_guard lock(pool_mutex_);
  return PoolRef(pool_ ? GST_BUFFER_POOL(gst_object_ref(pool_.get())) : nullptr);
}

void VideoDenoise::set_context(GstContext* context) {
  device_.set_context(context, properties.snapshot().element.cuda_device_id);
}

bool VideoDenoise::query_latency(GstQuery* query) {
  if (!gst_pad_peer_query(sink_, query)) return false;
  gboolean live = FALSE;
  GstClockTime min = 0, max = 0;
  gst_query_parse_latency(query, &live, &min, &max);
  const auto own = latency_.get();
  min += own.min;
  if (GST_CLOCK_TIME_IS_VALID(max)) max += own.max;
  gst_query_set_latency(query, live, min, max);
  return true;
}

void VideoDenoise::update_latency() {
  const auto duration =
      caps_ && GST_VIDEO_INFO_FPS_N(&info_) > 0
          ? gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&info_)),
                                  static_cast<guint64>(GST_VIDEO_INFO_FPS_N(&info_)))
          : GST_CLOCK_TIME_NONE;
  latency_.configure(duration, properties.snapshot().element.async_depth, passthrough_);
  post_latency();
}

void VideoDenoise::post_latency() {
  if (!latency_.take_change()) return;
  GST_DEBUG_OBJECT(element_, "latency changed");
  gst_element_post_message(element_, gst_message_new_latency(GST_OBJECT(element_)));
}

}  // namespace quietframe::gst
