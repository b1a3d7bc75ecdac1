// What videodenoise says about itself in the property `stats`.
#pragma once
#include <gst/gst.h>

#include <cstdint>
#include <string>

namespace quietframe::examples {

struct DenoiseStats {
  std::string backend;  ///< "cpu" or "cuda"
  std::string memory;   ///< how samples travelled: host, device, direct or staged
  double sigma;         ///< noise sigma of the last frame's first plane, levels; NaN: none was needed
  std::uint64_t frames_in = 0, frames_out = 0, frames_dropped = 0;
  double total_p50_us = 0,
         total_p99_us = 0;  ///< of the last frames, from a frame's arrival until it was done
};

DenoiseStats denoise_stats(GstElement* denoise);

}  // namespace quietframe::examples
