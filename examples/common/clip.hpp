// A clip in memory: a phantom, a file, a raw clip or what a camera sees.
#pragma once
#include <gst/video/video.h>

#include <string>
#include <vector>

#include "common/gst_owned.hpp"

namespace quietframe::examples {

struct Clip {
  std::string title;  ///< one line about what it is
  Owned<GstCaps> caps;
  GstVideoInfo info{};
  std::vector<Owned<GstBuffer>> frames;
  /// For a phantom, the clean frames in levels, width * height each (its format is GRAY8); else empty.
  std::vector<std::vector<float>> clean;
};

struct ClipRequest {
  std::string source;             ///< empty: a phantom; /dev/video*: a camera; else a file
  std::string caps;               ///< of a raw clip, or what to ask of a camera
  int frames = 90;                ///< at most
  int width = 512, height = 512;  ///< of a phantom
};

/// Throws PipelineError or Error with what is wrong and what to do.
Clip load_clip(const ClipRequest& request);

}  // namespace quietframe::examples
