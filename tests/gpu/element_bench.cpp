// Measures the element in a pipeline on a GPU: appsrc with the element's own pool ! videodenoise ! fakesink,
// flat out or at a fixed rate. FILTER `peer` puts cudaupload ! cudadownload in its place.
// Usage: element-bench WIDTH HEIGHT FORMAT FILTER DEPTH FRAMES [FRAMES-PER-SECOND]
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

struct Log {
  std::vector<Clock::time_point> pushed, entered, arrived;
  std::size_t frames = 0, frames_in = 0;
  double cpu_from = 0;
  std::size_t warm_up = 0;
};

GstPadProbeReturn on_buffer(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto* log = static_cast<Log*>(data);
  if (log->frames == log->warm_up) log->cpu_from = cpu_seconds();
  if (log->frames < log->arrived.size()) log->arrived[log->frames] = Clock::now();
  ++log->frames;
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn on_entry(GstPad*, GstPadProbeInfo*, gpointer data) {
  auto* log = static_cast<Log*>(data);
  if (log->frames_in < log->entered.size()) log->entered[log->frames_in++] = Clock::now();
  return GST_PAD_PROBE_OK;
}

// The pool that the element proposes to whoever feeds it; null when it proposes none.
GstBufferPool* proposed_pool(GstElement* source, GstCaps* caps) {
  GstPad* pad = gst_element_get_static_pad(source, "src");
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  GstBufferPool* pool = nullptr;
  guint size = 0, least = 0, most = 0;
  if (gst_pad_peer_query(pad, query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  if (pool) {
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, least, 0);
    if (gst_query_get_n_allocation_params(query) > 0) {
      GstAllocator* allocator = nullptr;
      GstAllocationParams params;
      gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
      gst_buffer_pool_config_set_allocator(config, allocator, &params);
      if (allocator) gst_object_unref(allocator);
    }
    if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
      gst_clear_object(&pool);
  }
  gst_query_unref(query);
  gst_object_unref(pad);
  return pool;
}

GstBufferPool* plain_pool(GstCaps* caps) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return nullptr;
  GstBufferPool* pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(info.size), 8, 0);
  if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE))
    gst_clear_object(&pool);
  return pool;
}

void fill_once(GstBuffer* buffer) {
  static std::unordered_set<GstMemory*> seen;
  static std::mt19937 random(1);
  if (!seen.insert(gst_buffer_peek_memory(buffer, 0)).second) return;
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) return;
  for (gsize i = 0; i < map.size; ++i) map.data[i] = static_cast<guint8>(110 + random() % 40);
  gst_buffer_unmap(buffer, &map);
}

int report(const Log& log, const std::string& what, double rate, GstElement* denoise) {
  const auto n = log.arrived.size();
  if (log.frames < n) return g_printerr("%s: %zu of %zu frames arrived\n", what.c_str(), log.frames, n), 1;
  const double us =
      std::chrono::duration<double, std::micro>(log.arrived.back() - log.arrived[log.warm_up]).count();
  const double cpu = (cpu_seconds() - log.cpu_from) * 1e8 / us;
  const auto latency = [&](const std::vector<Clock::time_point>& from) {
    std::vector<double> took;
    for (std::size_t i = log.warm_up; i < n; ++i)
      took.push_back(std::chrono::duration<double, std::micro>(log.arrived[i] - from[i]).count());
    std::sort(took.begin(), took.end());
    char text[100];
    std::snprintf(text, sizeof text, "p50 %.0f us, p99 %.0f us, max %.0f us", took[took.size() / 2],
                  took[took.size() * 99 / 100], took.back());
    return std::string(text);
  };
  GstStructure* stats = nullptr;
  gchar* backend = nullptr;
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(denoise), "stats"))
    g_object_get(denoise, "stats", &stats, "active-backend", &backend, nullptr);
  const gchar* path = stats ? gst_structure_get_string(stats, "memory-path") : nullptr;
  if (!backend) backend = g_strdup("GStreamer's own elements");
  if (rate > 0)
    g_print("%s at %.0f frames/s: latency %s (from the push into appsrc: %s); CPU %.1f %%; %s, memory %s\n",
            what.c_str(), rate, latency(log.entered).c_str(), latency(log.pushed).c_str(), cpu, backend,
            path ? path : "?");
  else
    g_print("%s: %.1f us/frame, %.0f frames/s, CPU %.0f %%; %s, memory %s\n", what.c_str(),
            us / static_cast<double>(n - 1 - log.warm_up),
            1e6 * static_cast<double>(n - 1 - log.warm_up) / us, cpu, backend, path ? path : "?");
  if (stats) gst_structure_free(stats);
  g_free(backend);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc < 7)
    return g_printerr("usage: element-bench WIDTH HEIGHT FORMAT FILTER DEPTH FRAMES [FRAMES/S]\n"), 2;
  const auto count = static_cast<std::size_t>(std::atoi(argv[6]));
  const double rate = argc > 7 ? std::atof(argv[7]) : 0;
  const std::string what =
      std::string(argv[1]) + "x" + argv[2] + " " + argv[3] + " " + argv[4] + " depth " + argv[5];
  const bool peer = std::string(argv[4]) == "peer";
  const std::string element =
      peer ? std::string("cudaupload name=d ! video/x-raw(memory:CUDAMemory) ! cudadownload")
           : std::string("videodenoise name=d backend=") +
                 (std::getenv("QF_BACKEND") ? std::getenv("QF_BACKEND") : "cuda") + " filter=" + argv[4] +
                 " async-depth=" + argv[5] + " qos=false";
  const std::string text = "appsrc name=src format=time block=true max-buffers=8 max-bytes=0 ! " + element +
                           " ! video/x-raw ! fakesink name=sink sync=false";
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(text.c_str(), &error);
  if (!pipeline) return g_printerr("%s\n", error->message), 1;
  GstElement *src = gst_bin_get_by_name(GST_BIN(pipeline), "src"),
             *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink"),
             *denoise = gst_bin_get_by_name(GST_BIN(pipeline), "d");
  GstCaps* caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, argv[3], "width", G_TYPE_INT,
                                      std::atoi(argv[1]), "height", G_TYPE_INT, std::atoi(argv[2]),
                                      "framerate", GST_TYPE_FRACTION, 60, 1, nullptr);
  g_object_set(src, "caps", caps, nullptr);
  Log log;
  log.pushed.resize(count);
  log.entered.resize(count);
  log.arrived.resize(count);
  log.warm_up = count / 5;
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &log, nullptr);
  gst_pad_add_probe(gst_element_get_static_pad(denoise, "sink"), GST_PAD_PROBE_TYPE_BUFFER, on_entry, &log,
                    nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBufferPool* pool = proposed_pool(src, caps);
  if (!pool && peer) pool = plain_pool(caps);  // cudaupload offers none, or one of ordinary memory like this
  if (!pool) return g_printerr("the element proposes no pool\n"), 1;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    GstBuffer* buffer = nullptr;
    if (gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) != GST_FLOW_OK) break;
    fill_once(buffer);
    GST_BUFFER_PTS(buffer) = i * GST_SECOND / 60;
    if (rate > 0)
      std::this_thread::sleep_until(start +
                                    std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(static_cast<double>(i) / rate)));
    log.pushed[i] = Clock::now();
    if (gst_app_src_push_buffer(GST_APP_SRC(src), buffer) != GST_FLOW_OK) break;
  }
  gst_app_src_end_of_stream(GST_APP_SRC(src));
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 30 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  int result = 1;
  if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, nullptr);
    g_printerr("%s: %s\n", what.c_str(), error->message);
  } else if (message) {
    result = report(log, what, rate, denoise);
  } else {
    g_printerr("%s: no end of stream\n", what.c_str());
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return result;
}
