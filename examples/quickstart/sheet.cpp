// Draws the contact sheet with GStreamer itself: videocrop, videoscale, textoverlay, compositor and pngenc.
#include "quickstart/sheet.hpp"

#include <fmt/core.h>
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

std::string tile_branch(const GstVideoInfo& info, const Layout& l, std::size_t index) {
  // Nearest neighbour: what is looked at are the pixels.
  return fmt::format(
      " appsrc name=tile{0} format=time ! videocrop left={1} right={2} top={3} bottom={4} ! videoconvert ! "
      "videoscale method=nearest-neighbour add-borders=false ! video/x-raw,format=RGBA,width={5},height={6},"
      "pixel-aspect-ratio=1/1 ! textoverlay name=text{0} valignment=top halignment=left xpad=6 ypad=4 "
      "shaded-background=true draw-outline=false font-desc=\"Sans 11\" ! sheet.sink_{0}",
      index, l.left, info.width - l.left - l.crop_w, l.top, info.height - l.top - l.crop_h, l.tile_w,
      l.tile_h);
}

void feed(const Pipeline& pipeline, const Clip& clip, const Tile& tile, std::size_t index) {
  g_object_set(pipeline.element(fmt::format("text{}", index).c_str()).get(), "text", tile.caption.c_str(),
               nullptr);
  const Owned<GstElement> source = pipeline.element(fmt::format("tile{}", index).c_str());
  g_object_set(source.get(), "caps", clip.caps.get(), nullptr);
  GstBuffer* buffer = gst_buffer_copy(tile.frame);
  GST_BUFFER_PTS(buffer) = 0;
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
  gst_app_src_push_buffer(GST_APP_SRC(source.get()), buffer);
  gst_app_src_end_of_stream(GST_APP_SRC(source.get()));
}

}  // namespace

void write_sheet(const Clip& clip, const std::vector<Tile>& tiles, const std::string& path) {
  const Layout l = lay_out(clip.info, tiles.size());
  std::string description = "compositor name=sheet background=black";
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const int column = static_cast<int>(i) % l.columns, row = static_cast<int>(i) / l.columns;
    description += fmt::format(" sink_{0}::xpos={1} sink_{0}::ypos={2}", i, column * (l.tile_w + gap),
                               row * (l.tile_h + gap));
  }
  description += " ! videoconvert ! video/x-raw,format=RGB ! pngenc snapshot=true ! filesink name=file";
  for (std::size_t i = 0; i < tiles.size(); ++i) description += tile_branch(clip.info, l, i);
  Pipeline pipeline(description);
  g_object_set(pipeline.element("file").get(), "location", path.c_str(), nullptr);
  for (std::size_t i = 0; i < tiles.size(); ++i) feed(pipeline, clip, tiles[i], i);
  pipeline.set_state(GST_STATE_PLAYING);
  pipeline.wait_eos(30 * GST_SECOND);
}

}  // namespace quietframe::examples
