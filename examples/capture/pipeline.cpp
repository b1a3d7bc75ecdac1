// The pipeline of the capture application, as a description.
#include <fmt/core.h>

#include "capture/app.hpp"

namespace quietframe::examples {
namespace {

bool have_element(const char* name) {
  return Owned<GstElementFactory>(gst_element_factory_find(name)) != nullptr;
}

// Lossless first: what is recorded is for measuring too.
std::string encoder() {
  if (have_element("avenc_ffv1")) return "avenc_ffv1";
  if (have_element("x264enc")) return "x264enc tune=zerolatency speed-preset=superfast quantizer=0";
  if (have_element("vp8enc")) return "vp8enc deadline=1 cpu-used=8 target-bitrate=8000000";
  if (have_element("jpegenc")) return "jpegenc quality=95";
  throw PipelineError(
      "no encoder for --record: install gstreamer1.0-libav or gstreamer1.0-plugins-good, or name one with "
      "--encoder");
}

}  // namespace

std::string CaptureApp::source_part() const {
  // The leaky queues of the preview hold nothing back: without a clock the clip would run ahead of the sink.
  if (!clip_.frames.empty()) return "appsrc name=clip format=time max-buffers=4 max-bytes=0 ! clocksync";
  if (options_.source == "test")
    return "videotestsrc is-live=true pattern=ball ! " +
           (options_.caps.empty() ? "video/x-raw,format=NV12,width=640,height=480,framerate=30/1"
                                  : options_.caps);
  if (options_.source.starts_with("/dev/"))
    return fmt::format("v4l2src device=\"{}\"{} ! decodebin ! videoconvert", options_.source,
                       options_.caps.empty() ? "" : " ! " + options_.caps);
  return fmt::format("filesrc location=\"{}\" ! decodebin ! videoconvert", options_.source);
}

// The queues drop old frames rather than let a slow window or disk hold up the camera.
std::string CaptureApp::output_part() const {
  std::string out = " ! tee name=out allow-not-linked=true";
  if (options_.headless && !options_.split)
    out += " out. ! queue max-size-buffers=4 ! fakesink name=view sync=true";
  else
    out +=
        " out. ! queue leaky=downstream max-size-buffers=2 ! videoconvert ! videocrop name=right ! "
        "view.sink_1";
  if (!options_.record.empty())
    out += fmt::format(
        " out. ! queue max-size-buffers=60 max-size-bytes=0 max-size-time=0 ! videoconvert ! {} ! "
        "matroskamux ! "
        "filesink location=\"{}\"",
        options_.encoder.empty() ? encoder() : options_.encoder, options_.record);
  return out;
}

std::string CaptureApp::describe() const {
  const std::string denoise =
      fmt::format("videodenoise name=denoise filter={} backend={}", options_.filter, options_.backend);
  if (options_.headless && !options_.split) return source_part() + " ! " + denoise + output_part();
  // The preview lays the output over the input; in split view only its right half. It begins with the first
  // frame: a compositor that begins before it has none to take its size from, and the window would be of 1x1.
  const char* sink = options_.headless ? "fakesink name=screen sync=true" : "autovideosink name=screen";
  return fmt::format(
      "compositor name=view start-time-selection=first sink_0::zorder=1 sink_1::zorder=2 ! videoconvert ! {} "
      "{} ! tee name=in ! "
      "queue max-size-buffers=4 ! {}{} in. ! queue leaky=downstream max-size-buffers=4 ! videoconvert ! "
      "view.sink_0",
      sink, source_part(), denoise, output_part());
}

}  // namespace quietframe::examples
