// Makes, reads, decodes or grabs a clip into memory.
#include "common/clip.hpp"

#include <fmt/core.h>
#include <gst/app/gstappsink.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "noise/estimate.hpp"
#include "phantom/phantom.hpp"
#include "pixel_format.hpp"
#include "processor.hpp"
#include "thread_pool.hpp"

namespace quietframe::examples {
namespace {

constexpr std::size_t memory_limit = std::size_t{512} << 20;  // bytes of frames kept

void set_caps(Clip& clip, GstCaps* caps) {
  clip.caps.reset(gst_caps_ref(caps));
  if (!gst_video_info_from_caps(&clip.info, caps)) {
    const Owned<gchar> text(gst_caps_to_string(caps));
    throw PipelineError(
        fmt::format("these caps do not describe raw video with one size and format: {}", text.get()));
  }
}

int frames_that_fit(int wanted, std::size_t frame_bytes) {
  return std::clamp(static_cast<int>(memory_limit / std::max<std::size_t>(frame_bytes, 1)), 1, wanted);
}

// Rounds levels to GRAY8 rows of the buffer.
Owned<GstBuffer> store_gray8(const GstVideoInfo& info, const ImageView<const float>& levels) {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), buffer.get(), GST_MAP_WRITE))
    throw PipelineError("no memory for a frame");
  auto* data = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  for (int y = 0; y < levels.height; ++y, data += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0))
    for (int x = 0; x < levels.width; ++x)
      data[x] = static_cast<guint8>(std::clamp(levels.row(y)[x] + 0.5f, 0.f, 255.f));
  gst_video_frame_unmap(&frame);
  return buffer;
}

Clip phantom_clip(const ClipRequest& request) {
  Clip clip;
  const int w = request.width, h = request.height;
  clip.title = fmt::format("ultrasound phantom, {}x{} GRAY8: speckle and a noise floor, moving tissue", w, h);
  const Owned<GstCaps> caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width",
                                                G_TYPE_INT, w, "height", G_TYPE_INT, h, "framerate",
                                                GST_TYPE_FRACTION, 30, 1, nullptr));
  set_caps(clip, caps.get());
  ThreadPool pool;
  const auto phantom = make_phantom(PhantomParams{}, w, h, 1);
  std::vector<float> noisy(static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
  const auto stride = static_cast<std::ptrdiff_t>(w) * static_cast<std::ptrdiff_t>(sizeof(float));
  const int count = frames_that_fit(request.frames, noisy.size() * 6);
  for (int t = 0; t < count; ++t) {
    std::vector<float>& clean = clip.clean.emplace_back(noisy.size());
    const PlanarGroup clean_group{1, {ImageView<float>{clean.data(), w, h, stride}}};
    const PlanarGroup noisy_group{1, {ImageView<float>{noisy.data(), w, h, stride}}};
    phantom->render(t, &clean_group, &noisy_group, pool);
    clip.frames.push_back(store_gray8(clip.info, as_const(noisy_group.channel[0])));
  }
  return clip;
}

// Copies one tightly packed frame into a buffer with GStreamer's strides; false at the end of the file.
bool read_frame(std::ifstream& file, const FormatInfo& format, const GstVideoInfo& info,
                std::size_t frame_bytes, std::vector<char>& packed, Owned<GstBuffer>& out) {
  packed.resize(frame_bytes);
  if (!file.read(packed.data(), static_cast<std::streamsize>(frame_bytes))) return false;
  out.reset(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), out.get(), GST_MAP_WRITE))
    throw PipelineError("no memory for a frame");
  const char* from = packed.data();
  for (int p = 0; p < format.planes; ++p) {
    const PlaneSize size = plane_size(format, p, info.width, info.height);
    auto* to = static_cast<char*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    for (int y = 0; y < size.rows; ++y, from += size.row_bytes, to += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p))
      std::copy_n(from, size.row_bytes, to);
  }
  gst_video_frame_unmap(&frame);
  return true;
}

Clip raw_clip(const ClipRequest& request) {
  Clip clip;
  const Owned<GstCaps> caps(gst_caps_from_string(request.caps.c_str()));
  if (!caps) throw PipelineError("these are no caps: " + request.caps);
  set_caps(clip, caps.get());
  const FormatInfo* format = find_format(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&clip.info)));
  if (format == nullptr)
    throw PipelineError(
        fmt::format("videodenoise does not take {}; gst-inspect-1.0 videodenoise lists what it takes",
                    gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&clip.info))));
  const std::size_t frame_bytes =
      pack_frame({format->format, clip.info.width, clip.info.height}, nullptr, nullptr);
  std::error_code error;
  const auto file_bytes = std::filesystem::file_size(request.source, error);
  std::ifstream file(request.source, std::ios::binary);
  if (error || !file) throw PipelineError("cannot read " + request.source);
  const double in_file = static_cast<double>(file_bytes) / static_cast<double>(frame_bytes);
  const std::string fit =
      fmt::format("{} holds {:.3f} frames of {}x{} {} ({} bytes each, rows without padding)", request.source,
                  in_file, clip.info.width, clip.info.height, format->name, frame_bytes);
  if (in_file < 1) throw PipelineError(fit + ": it is truncated, or the caps do not fit");
  if (file_bytes % frame_bytes != 0)
    fmt::print(stderr, "warning: {}: the last one is truncated, or the caps do not fit\n", fit);
  clip.title =
      fmt::format("{}, raw {}x{} {}", request.source, clip.info.width, clip.info.height, format->name);
  std::vector<char> packed;
  Owned<GstBuffer> frame;
  const int count = frames_that_fit(request.frames, clip.info.size);
  while (static_cast<int>(clip.frames.size()) < count &&
         read_frame(file, *format, clip.info, frame_bytes, packed, frame))
    clip.frames.push_back(std::move(frame));
  return clip;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// The caps that videodenoise takes, as its own factory states them.
std::string denoise_caps() {
  const Owned<GstElementFactory> factory(gst_element_factory_find("videodenoise"));
  if (!factory)
    throw PipelineError(
        "GStreamer does not find videodenoise: set GST_PLUGIN_PATH to the folder of the plugin");
  for (const GList* item = gst_element_factory_get_static_pad_templates(factory.get()); item != nullptr;
       item = item->next) {
    auto* pad = static_cast<GstStaticPadTemplate*>(item->data);
    if (pad->direction != GST_PAD_SINK) continue;
    const Owned<GstCaps> all(gst_static_pad_template_get_caps(pad));
    const Owned<GstCaps> system(gst_caps_new_empty());
    for (guint i = 0; i < gst_caps_get_size(all.get()); ++i)
      if (gst_caps_features_is_equal(gst_caps_get_features(all.get(), i),
                                     GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
        gst_caps_append_structure(system.get(), gst_structure_copy(gst_caps_get_structure(all.get(), i)));
    const Owned<gchar> text(gst_caps_to_string(system.get()));
    return text.get();
  }
  return "video/x-raw";
}

Clip decoded_clip(const ClipRequest& request) {
  const bool camera = request.source.starts_with("/dev/");
  std::string head =
      camera ? "v4l2src device=" + quoted(request.source) : "filesrc location=" + quoted(request.source);
  if (!request.caps.empty()) head += " ! " + request.caps;
  Pipeline pipeline(head + " ! decodebin ! videoconvert ! " + denoise_caps() +
                    " ! appsink name=sink sync=false max-buffers=4");
  const Owned<GstElement> sink = pipeline.element("sink");
  pipeline.set_state(GST_STATE_PLAYING);
  Clip clip;
  int count = request.frames;
  while (static_cast<int>(clip.frames.size()) < count) {
    const Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), 20 * GST_SECOND));
    if (!sample) break;
    if (!clip.caps) {
      set_caps(clip, gst_sample_get_caps(sample.get()));
      count = frames_that_fit(count, clip.info.size);
    } else if (!gst_caps_is_equal(clip.caps.get(), gst_sample_get_caps(sample.get()))) {
      fmt::print(stderr, "note: size or format changes after {} frames; taking those\n", clip.frames.size());
      break;
    }
    // A camera has few buffers and must have them back.
    clip.frames.emplace_back(gst_buffer_copy_deep(gst_sample_get_buffer(sample.get())));
  }
  if (clip.frames.empty()) pipeline.throw_error();
  if (clip.frames.empty()) throw PipelineError("no video frame came from " + request.source);
  clip.title = fmt::format("{}, {}x{} {}", request.source, clip.info.width, clip.info.height,
                           gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&clip.info)));
  return clip;
}

}  // namespace

Clip load_clip(const ClipRequest& request) {
  if (request.source.empty()) return phantom_clip(request);
  const bool device = request.source.starts_with("/dev/");
  if (!device && !std::filesystem::exists(request.source))
    throw PipelineError("there is no file " + request.source);
  if (!device && !request.caps.empty()) return raw_clip(request);
  return decoded_clip(request);
}

}  // namespace quietframe::examples
