// appsrc ! videodenoise ! appsink, once frame by frame and once as fast as it goes.
#include "quickstart/measure.hpp"

#include <fmt/core.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "common/denoise_stats.hpp"
#include "quality/metrics.hpp"
#include "thread_pool.hpp"

namespace quietframe::examples {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto speed_time = std::chrono::milliseconds(1500);
constexpr GstClockTime frame_timeout = 60 * GST_SECOND;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The pipeline with its two ends.
struct Bench {
  Pipeline pipeline;
  Owned<GstElement> source = pipeline.element("source"), denoise = pipeline.element("denoise"),
                    sink = pipeline.element("sink");
  GstClockTime duration;
  guint64 pushed = 0;

  Bench(const Clip& clip, const RunRequest& request)
      : pipeline(
            "appsrc name=source format=time block=true max-buffers=2 max-bytes=0 ! videodenoise name=denoise "
            "! "
            "appsink name=sink sync=false qos=false max-buffers=16 enable-last-sample=false"),
        duration(GST_VIDEO_INFO_FPS_N(&clip.info) > 0
                     ? gst_util_uint64_scale_int(GST_SECOND, GST_VIDEO_INFO_FPS_D(&clip.info),
                                                 GST_VIDEO_INFO_FPS_N(&clip.info))
                     : GST_SECOND / 30) {
    g_object_set(source.get(), "caps", clip.caps.get(), nullptr);
    set_property(denoise.get(), "filter=" + request.filter);
    set_property(denoise.get(), "backend=" + request.backend);
    set_property(denoise.get(), "qos=false");
    for (const auto& setting : request.settings) set_property(denoise.get(), setting);
    pipeline.set_state(GST_STATE_PLAYING);
  }

  // The same memory with a new timestamp, as a source that reuses its buffers would do.
  void push(GstBuffer* frame) {
    GstBuffer* buffer = gst_buffer_copy(frame);
    GST_BUFFER_PTS(buffer) = pushed++ * duration;
    GST_BUFFER_DURATION(buffer) = duration;
    if (gst_app_src_push_buffer(GST_APP_SRC(source.get()), buffer) != GST_FLOW_OK) fail();
  }
  Owned<GstSample> pull() {
    Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), frame_timeout));
    if (!sample && !gst_app_sink_is_eos(GST_APP_SINK(sink.get()))) fail();
    return sample;
  }
  [[noreturn]] void fail() const {
    pipeline.throw_error();
    throw PipelineError("videodenoise stopped without saying why");
  }
};

void read_stats(GstElement* denoise, RunResult& result) {
  const DenoiseStats stats = denoise_stats(denoise);
  result.backend = stats.backend;
  result.memory = stats.memory;
  result.sigma = stats.sigma;
}

void one_by_one(const Clip& clip, const RunRequest& request, RunResult& result) {
  Bench bench(clip, request);
  Quality quality(clip);
  for (std::size_t i = 0; i < clip.frames.size(); ++i) {
    const auto start = Clock::now();
    bench.push(clip.frames[i].get());
    ++result.frames_in;
    const Owned<GstSample> sample = bench.pull();
    if (!sample) break;
    // The first frame also negotiates, allocates and wakes the GPU.
    if (i > 0) result.latency.add(seconds_since(start) * 1e6);
    ++result.frames_out;
    GstBuffer* frame = gst_sample_get_buffer(sample.get());
    quality.add(i, frame);
    if (static_cast<int>(i) == request.sheet_frame) result.kept.reset(gst_buffer_copy_deep(frame));
  }
  gst_app_src_end_of_stream(GST_APP_SRC(bench.source.get()));
  while (bench.pull()) ++result.frames_out;
  result.psnr = quality.psnr();
  result.ssim = quality.ssim();
  read_stats(bench.denoise.get(), result);
}

void as_fast_as_it_goes(const Clip& clip, const RunRequest& request, RunResult& result) {
  Bench bench(clip, request);
  bench.push(clip.frames[0].get());
  bench.pull();
  const auto start = Clock::now();
  std::thread feeder([&] {
    try {
      for (std::size_t i = 1; i < clip.frames.size() || Clock::now() - start < speed_time; ++i)
        bench.push(clip.frames[i % clip.frames.size()].get());
    } catch (const PipelineError&) {  // the error is on the bus, where pull() finds it
    }
    gst_app_src_end_of_stream(GST_APP_SRC(bench.source.get()));
  });
  int frames = 0;
  try {
    while (bench.pull()) ++frames;
  } catch (...) {
    gst_element_set_state(bench.pipeline.get(), GST_STATE_NULL);
    feeder.join();
    throw;
  }
  feeder.join();
  result.frames_per_second = frames / seconds_since(start);
}

}  // namespace

void Quality::add(std::size_t index, GstBuffer* frame) {
  if (index >= clip_.clean.size()) return;
  GstVideoFrame mapped;
  if (!gst_video_frame_map(&mapped, const_cast<GstVideoInfo*>(&clip_.info), frame, GST_MAP_READ)) return;
  const int w = clip_.info.width, h = clip_.info.height;
  const auto stride = static_cast<std::ptrdiff_t>(w) * static_cast<std::ptrdiff_t>(sizeof(float));
  std::vector<float> levels(clip_.clean[index].size());
  const auto* data = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&mapped, 0));
  for (int y = 0; y < h; ++y, data += GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, 0))
    for (int x = 0; x < w; ++x)
      levels[static_cast<std::size_t>(y) * static_cast<std::size_t>(w) + static_cast<std::size_t>(x)] =
          data[x];
  gst_video_frame_unmap(&mapped);
  static ThreadPool pool;
  const ImageView<const float> out{levels.data(), w, h, stride},
      clean{clip_.clean[index].data(), w, h, stride};
  psnr_ += quietframe::psnr(mse(out, clean, pool), 255);
  if (w >= ssim_window && h >= ssim_window) ssim_ += quietframe::ssim(out, clean, 255, pool);
  ++count_;
}

double Quality::psnr() const { return count_ > 0 ? psnr_ / count_ : std::nan(""); }
double Quality::ssim() const { return count_ > 0 ? ssim_ / count_ : std::nan(""); }

RunResult run_filter(const Clip& clip, const RunRequest& request) {
  RunResult result;
  result.filter = request.filter;
  one_by_one(clip, request, result);
  as_fast_as_it_goes(clip, request, result);
  return result;
}

}  // namespace quietframe::examples
