// Noisy frames of any format and size, for programs that need input and no camera.
#pragma once
#include <gst/video/video.h>

#include "common/gst_owned.hpp"

namespace quietframe::examples {

/// Caps of raw video; throws PipelineError if videodenoise does not know the format.
Owned<GstCaps> video_caps(const char* format, int width, int height, int rate_numerator,
                          int rate_denominator);

/// Draws soft bars with Gaussian noise (sigma 12 levels) into a writable buffer of this layout. Frames of
/// different `number` differ. Throws PipelineError.
void draw_test_frame(GstBuffer* buffer, const GstVideoInfo& info, int number);

}  // namespace quietframe::examples
