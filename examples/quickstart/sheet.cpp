// Draws the contact sheet: each tile by GStreamer (videocrop, videoscale, textoverlay), then pngenc.
#include "quickstart/sheet.hpp"

#include <fmt/core.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include <algorithm>

namespace quietframe::examples {
namespace {

constexpr int tile_size = 384;    // pixels, the longer side
constexpr int most_pixels = 256;  // of the frame that a tile shows, each way
constexpr int gap = 4;

struct Layout {
  int crop_w, crop_h;  // even, for subsampled chroma; 1 at least
  int left, top;
  int tile_w, tile_h;
  int columns;
};

int even_or_less(int value) { return value < 2 ? value : value / 2 * 2; }

Layout lay_out(const GstVideoInfo& info, std::size_t tiles) {
  Layout l{};
  l.crop_w = even_or_less(std::min(info.width, most_pixels));
  l.crop_h = even_or_less(std::min(info.height, most_pixels));
  l.left = even_or_less((info.width - l.crop_w) / 2);
  l.top = even_or_less((info.height - l.crop_h) / 2);
  const int longer = std::max(l.crop_w, l.crop_h);
  l.tile_w = std::max(64, l.crop_w * tile_size / longer);
  l.tile_h = std::max(64, l.crop_h * tile_size / longer);
  l.columns = tiles <= 3 ? static_cast<int>(tiles) : tiles == 4 ? 2 : tiles <= 6 ? 3 : 4;
  return l;
}

// One frame in, one out: pipelines run one after another, because a compositor fed by several sources
// negotiates in whatever order their threads come, and in GStreamer 1.22 some orders fail.
void push_one(const Pipeline& pipeline, GstCaps* caps, GstBuffer* frame) {
  const Owned<GstElement> source = pipeline.element("source");
  g_object_set(source.get(), "caps", caps, nullptr);
  GST_BUFFER_PTS(frame) = 0;
  GST_BUFFER_DURATION(frame) = GST_SECOND / 30;
  gst_app_src_push_buffer(GST_APP_SRC(source.get()), frame);
  gst_app_src_end_of_stream(GST_APP_SRC(source.get()));
}

// Draws the tile, crop_w x crop_h enlarged and with its caption, into `rgb` (rows of `stride` bytes).
void draw_tile(const Clip& clip, const Layout& l, const Tile& tile, guint8* rgb, std::size_t stride) {
  // Nearest neighbour: what is looked at are the pixels.
  Pipeline pipeline(fmt::format(
      "appsrc name=source format=time ! videocrop left={} right={} top={} bottom={} ! videoconvert ! "
      "videoscale method=nearest-neighbour add-borders=false ! video/x-raw,format=RGB,width={},height={},"
      "pixel-aspect-ratio=1/1 ! textoverlay name=text valignment=top halignment=left xpad=6 ypad=4 "
      "shaded-background=true draw-outline=false font-desc=\"Sans 11\" ! appsink name=sink sync=false",
      l.left, clip.info.width - l.left - l.crop_w, l.top, clip.info.height - l.top - l.crop_h, l.tile_w,
      l.tile_h));
  g_object_set(pipeline.element("text").get(), "text", tile.caption.c_str(), nullptr);
  push_one(pipeline, clip.caps.get(), gst_buffer_copy(tile.frame));
  pipeline.set_state(GST_STATE_PLAYING);
  const Owned<GstElement> sink = pipeline.element("sink");
  const Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), 30 * GST_SECOND));
  if (!sample) throw PipelineError("the contact sheet's tile \"" + tile.caption + "\" cannot be drawn");
  GstVideoInfo info;
  GstVideoFrame frame;
  const bool mapped = gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())) &&
                      gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample.get()), GST_MAP_READ);
  if (mapped) {
    const auto* data = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
    for (int y = 0; y < l.tile_h; ++y)
      std::copy_n(data + static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
                  3 * l.tile_w, rgb + static_cast<std::size_t>(y) * stride);
    gst_video_frame_unmap(&frame);
  }
  if (!mapped) throw PipelineError("the contact sheet's tile \"" + tile.caption + "\" cannot be read");
}

}  // namespace

void write_sheet(const Clip& clip, const std::vector<Tile>& tiles, const std::string& path) {
  const Layout l = lay_out(clip.info, tiles.size());
  const int rows = (static_cast<int>(tiles.size()) + l.columns - 1) / l.columns;
  GstVideoInfo sheet;
  gst_video_info_set_format(&sheet, GST_VIDEO_FORMAT_RGB,
                            static_cast<guint>(l.columns * (l.tile_w + gap) - gap),
                            static_cast<guint>(rows * (l.tile_h + gap) - gap));
  const auto stride = static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&sheet, 0));
  std::vector<guint8> rgb(GST_VIDEO_INFO_SIZE(&sheet));
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const auto column = static_cast<int>(i) % l.columns, row = static_cast<int>(i) / l.columns;
    draw_tile(clip, l, tiles[i],
              rgb.data() + static_cast<std::size_t>(row * (l.tile_h + gap)) * stride +
                  static_cast<std::size_t>(3 * column * (l.tile_w + gap)),
              stride);
  }
  Pipeline pipeline("appsrc name=source format=time ! pngenc ! filesink name=file");
  g_object_set(pipeline.element("file").get(), "location", path.c_str(), nullptr);
  const Owned<GstCaps> caps(gst_video_info_to_caps(&sheet));
  push_one(pipeline, caps.get(), gst_buffer_new_memdup(rgb.data(), rgb.size()));
  pipeline.set_state(GST_STATE_PLAYING);
  pipeline.wait_eos(30 * GST_SECOND);
}

}  // namespace quietframe::examples
