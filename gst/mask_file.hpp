// The picture behind the property `mask`.
#pragma once
#include <memory>
#include <string>

#include "region.hpp"

namespace quietframe::gst {

/// Reads a PNG of any type: pixels whose grey value is 128 or more filter, darker and transparent ones pass.
/// Throws Error that names the file and what is wrong with it.
std::shared_ptr<const Mask> read_mask(const std::string& location);

}  // namespace quietframe::gst
