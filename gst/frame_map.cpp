// Maps buffers through GstVideoFrame, which knows GstVideoMeta, and checks every plane against its memory.
#include "frame_map.hpp"

#include <string>

#include "allocator.hpp"
#include "guard.hpp"
#include "registered_memory.hpp"

namespace quietframe::gst {
namespace {

std::string size_text(const FrameFormat& f) {
  return std::to_string(f.width) + "x" + std::to_string(f.height) + " " + format_info(f.format).name;
}

// The rows of plane `p` lie within the mapped memory.
void check_plane(const FrameFormat& format, int p, const std::byte* data, std::ptrdiff_t stride,
                 const GstMapInfo& memory) {
  const auto plane = plane_size(format_info(format.format), p, format.width, format.height);
  const auto* begin = reinterpret_cast<const std::byte*>(memory.data);
  const std::ptrdiff_t first = data - begin;
  const std::ptrdiff_t span = stride * (plane.rows - 1);
  const std::ptrdiff_t lowest = span < 0 ? first + span : first;
  const std::ptrdiff_t highest = (span < 0 ? first : first + span) + plane.row_bytes;
  if (lowest >= 0 && highest <= static_cast<std::ptrdiff_t>(memory.size)) return;
  throw StreamError("The buffer is too small for its caps: plane " + std::to_string(p) + " of " +
                    size_text(format) + " with a stride of " + std::to_string(stride) +
                    " bytes needs bytes " + std::to_string(lowest) + " to " + std::to_string(highest) +
                    " of a memory of " + std::to_string(memory.size) +
                    ". Check the width, height and format that the source declares (packed 10 and 12 bit "
                    "camera formats must be unpacked first).");
}

}  // namespace

Frame MappedFrame::map(GstBuffer* buffer, const GstVideoInfo& info, const FrameFormat& format,
                       GstMapFlags flags, const MapTarget& target) {
  unmap();
  const auto* meta = gst_buffer_get_video_meta(buffer);
  if (meta &&
      (meta->format != GST_VIDEO_INFO_FORMAT(&info) || meta->width < static_cast<guint>(format.width) ||
       meta->height < static_cast<guint>(format.height)))
    throw StreamError("The buffer's GstVideoMeta says " + std::to_string(meta->width) + "x" +
                      std::to_string(meta->height) + " " + gst_video_format_to_string(meta->format) +
                      ", its caps say " + size_text(format) +
                      ". The element upstream must send new caps first.");
  if (!meta && gst_buffer_get_size(buffer) < info.size)
    throw StreamError(
        "The buffer has " + std::to_string(gst_buffer_get_size(buffer)) + " bytes, a frame of " +
        size_text(format) + " has " + std::to_string(info.size) +
        ". Check the width, height and format that the source declares (a file cut short, or packed "
        "10 and 12 bit camera formats that must be unpacked first).");
  const bool on_device = target.context && cuda_context_of(buffer) == target.context;
  const auto map_flags =
      static_cast<GstMapFlags>(static_cast<int>(flags) | static_cast<int>(GST_VIDEO_FRAME_MAP_FLAG_NO_REF) |
                               (on_device ? map_cuda : 0));
  if (!gst_video_frame_map(&frame_, &info, buffer, map_flags))
    throw StreamError("A buffer of " + size_text(format) +
                      " could not be mapped to system memory. Put the "
                      "download element of its memory (cudadownload, gldownload, ...) in front.");
  mapped_ = true;

  Frame frame{format, {}, {}, on_device ? MemoryKind::device : MemoryKind::pinned};
  const int planes = format_info(format.format).planes;
  for (int p = 0; p < planes; ++p) {
    const auto& memory = frame_.map[meta ? p : 0];
    frame.plane[p] = static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, p));
    frame.stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, p);
    check_plane(format, p, frame.plane[p], frame.stride[p], memory);
    if (on_device || is_pinned(memory.memory) ||
        (target.page_lock && page_lock_if_it_pays(memory.memory, memory.data)))
      continue;
    frame.memory = MemoryKind::pageable;
  }
  return frame;
}

void MappedFrame::unmap() {
  if (mapped_) gst_video_frame_unmap(&frame_);
  mapped_ = false;
}

}  // namespace quietframe::gst
