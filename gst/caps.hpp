// Which caps the element takes, and what they mean to the kernels.
#pragma once
#include <gst/video/video.h>

#include <optional>
#include <string>

#include "pixel_format.hpp"

namespace quietframe::gst {

inline constexpr int max_size = 32767;  ///< pixels or rows of a frame

/// Caps of both pads, with or without CUDAMemory. A new reference.
GstCaps* supported_caps(bool cuda_memory);

/// Caps that pass while frames are not touched: raw video of any format in any memory. A new reference.
GstCaps* passthrough_caps();

/// The format of frames with this video info, or why they cannot be taken (`why`).
std::optional<FrameFormat> frame_format(const GstVideoInfo& info, int bit_depth, std::string* why);

}  // namespace quietframe::gst
