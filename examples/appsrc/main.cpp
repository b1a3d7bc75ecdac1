// The shortest way to denoise your own frames: appsrc ! videodenoise ! appsink, frame in, frame out.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int width = 320, height = 240, frames = 100;

// A moving ramp with noise, where a program of yours would have its camera.
GstBuffer* make_frame(int number) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, width * height, nullptr);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      map.data[y * width + x] = static_cast<guint8>((x + number) % 200 + std::rand() % 40);  // NOLINT
  gst_buffer_unmap(buffer, &map);
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * GST_SECOND / 30;
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
  return buffer;
}

int fail(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  if (message != nullptr) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::fprintf(stderr, "error: %s\n", error->message);
    g_error_free(error);
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(
      "appsrc name=in format=time is-live=true "
      "caps=video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1 ! "
      "videodenoise filter=wavelet ! appsink name=out sync=false max-buffers=8",
      &error);
  if (error != nullptr) {
    std::fprintf(stderr, "error: %s (is GST_PLUGIN_PATH set?)\n", error->message);
    return 1;
  }
  GstElement* in = gst_bin_get_by_name(GST_BIN(pipeline), "in");
  GstElement* out = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);

  int status = 0, received = 0;
  for (int n = 0; n < frames && status == 0; ++n) {
    gst_app_src_push_buffer(GST_APP_SRC(in), make_frame(n));  // takes the buffer
    GstSample* sample = gst_app_sink_try_pull_sample(GST_APP_SINK(out), 5 * GST_SECOND);
    if (sample == nullptr) {
      status = fail(pipeline);
      break;
    }
    GstBuffer* denoised = gst_sample_get_buffer(sample);
    if (GST_BUFFER_PTS(denoised) == static_cast<GstClockTime>(n) * GST_SECOND / 30) ++received;
    gst_sample_unref(sample);
  }
  std::printf("%d frames in, %d denoised frames out, each with its own time stamp\n", frames, received);

  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(in);
  gst_object_unref(out);
  gst_object_unref(pipeline);
  return status != 0 || received != frames ? 1 : 0;
}
