// Draws test frames through the library's own description of the formats.
#include "common/test_frames.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "noise/models.hpp"
#include "pixel_format.hpp"
#include "sample.hpp"
#include "thread_pool.hpp"

namespace quietframe::examples {
namespace {

constexpr NoiseParams noise{NoiseModel::gaussian, 12.f};

Frame as_frame(const GstVideoFrame& mapped, const FormatInfo& format) {
  Frame frame;
  frame.format = {format.format, GST_VIDEO_FRAME_WIDTH(&mapped), GST_VIDEO_FRAME_HEIGHT(&mapped)};
  for (int p = 0; p < format.planes; ++p) {
    frame.plane[static_cast<std::size_t>(p)] =
        static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(&mapped, p));
    frame.stride[static_cast<std::size_t>(p)] = GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, p);
  }
  return frame;
}

void draw_channel(const GroupView& group, int channel, int number, ThreadPool& pool) {
  const auto w = static_cast<std::size_t>(group.width);
  std::vector<float> levels(w * static_cast<std::size_t>(group.height));
  const ImageView<float> plane{levels.data(), group.width, group.height,
                               static_cast<std::ptrdiff_t>(w * sizeof(float))};
  std::vector<double> across(w);
  for (int x = 0; x < group.width; ++x)
    across[static_cast<std::size_t>(x)] =
        70 * std::sin(2 * std::numbers::pi * (x + 3 * number + 40 * channel) / 64);
  for (int y = 0; y < group.height; ++y) {
    const double down = std::cos(2 * std::numbers::pi * y / 96);
    for (int x = 0; x < group.width; ++x)
      plane.row(y)[x] = static_cast<float>(128 + across[static_cast<std::size_t>(x)] * down);
  }
  add_noise(as_const(plane), plane, noise,
            {1, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(channel)}, pool);
  const auto c = static_cast<std::size_t>(channel);
  with_sample_type(group.type, [&]<SampleType S>() {
    for (int y = 0; y < group.height; ++y)
      for (int x = 0; x < group.width; ++x)
        store_level<S>(group.channel[c] + y * group.stride[c] + static_cast<std::ptrdiff_t>(x) * group.step,
                       group.shift, 1 / group.levels_per_code, group.max_code, plane.row(y)[x]);
  });
}

}  // namespace

Owned<GstCaps> video_caps(const char* format, int width, int height, int rate_numerator,
                          int rate_denominator) {
  if (find_format(format) == nullptr)
    throw PipelineError(std::string("videodenoise does not take the format ") + format +
                        "; gst-inspect-1.0 videodenoise lists what it takes");
  return Owned<GstCaps>(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                            G_TYPE_INT, width, "height", G_TYPE_INT, height, "framerate",
                                            GST_TYPE_FRACTION, rate_numerator, rate_denominator, nullptr));
}

void draw_test_frame(GstBuffer* buffer, const GstVideoInfo& info, int number) {
  GstVideoFrame mapped;
  if (!gst_video_frame_map(&mapped, const_cast<GstVideoInfo*>(&info), buffer, GST_MAP_WRITE))
    throw PipelineError("a test frame cannot be written");
  const FormatInfo* format = find_format(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
  static ThreadPool pool;
  const Frame frame = as_frame(mapped, *format);
  for (int g = 0; g < format->groups; ++g) {
    const GroupView group = group_view(frame, g);
    for (int c = 0; c < group.channels; ++c) draw_channel(group, c, number, pool);
  }
  gst_video_frame_unmap(&mapped);
}

}  // namespace quietframe::examples
