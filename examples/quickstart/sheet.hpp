// A contact sheet: the same part of a frame as it came and after each filter, with captions, as a PNG.
#pragma once
#include <string>
#include <vector>

#include "common/clip.hpp"

namespace quietframe::examples {

struct Tile {
  std::string caption;
  GstBuffer* frame;  ///< not owned; the clip's format
};

/// Throws PipelineError.
void write_sheet(const Clip& clip, const std::vector<Tile>& tiles, const std::string& path);

}  // namespace quietframe::examples
