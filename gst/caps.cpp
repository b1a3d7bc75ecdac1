// Caps made from the table of pixel formats.
#include "caps.hpp"

#include "cuda_library.hpp"

namespace quietframe::gst {
namespace {

std::string format_names(const char* separator) {
  std::string names;
  for (const auto& info : all_formats()) {
    if (info.type == SampleType::f32) continue;  // no GStreamer format
    names += names.empty() ? info.name : separator + std::string(info.name);
  }
  return names;
}

}  // namespace

GstCaps* supported_caps(bool cuda_memory) {
  const std::string size = "[ 1, " + std::to_string(max_size) + " ]";
  // Rows of interlaced frames alternate between two moments: a filter over neighbouring rows would mix them.
  const auto rest = " }, width=(int)" + size + ", height=(int)" + size +
                    ", framerate=(fraction)[ 0/1, max ], interlace-mode=(string)progressive";
  auto text = "video/x-raw, format=(string){ " + format_names(", ") + rest;
  if (cuda_memory)
    text += std::string("; video/x-raw(") + cuda_feature + "), format=(string){ " + cuda_formats + rest;
  return gst_caps_from_string(text.c_str());
}

GstCaps* passthrough_caps() { return gst_caps_from_string("video/x-raw(ANY)"); }

std::optional<FrameFormat> frame_format(const GstVideoInfo& info, int bit_depth, std::string* why) {
  const char* name = gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info));
  const auto* format = find_format(name ? name : "");
  if (!format || format->type == SampleType::f32) {
    *why = std::string("format ") + (name ? name : "unknown") +
           " is not supported; put videoconvert in front. " + "Supported: " + format_names(", ");
    return std::nullopt;
  }
  if (GST_VIDEO_INFO_IS_INTERLACED(&info)) {
    *why = std::string("interlace-mode=") +
           gst_video_interlace_mode_to_string(GST_VIDEO_INFO_INTERLACE_MODE(&info)) +
           " is not supported, frames must be progressive; put deinterlace in front";
    return std::nullopt;
  }
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  if (width < 1 || height < 1 || width > max_size || height > max_size) {
    *why = std::to_string(width) + "x" + std::to_string(height) +
           " is out of range; width and height are 1 to " + std::to_string(max_size);
    return std::nullopt;
  }
  return FrameFormat{format->format, width, height, bit_depth};
}

}  // namespace quietframe::gst
