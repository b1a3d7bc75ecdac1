// The property `preset`: named sets of the other properties, in one table.
#pragma once
#include <span>

#include "properties.hpp"

namespace quietframe::gst {

/// One property of a preset, as text; what a preset does not name it sets to its default.
struct PresetValue {
  const char* property;
  const char* value;
};

struct Preset {
  const char* nick;
  const char* blurb;
  std::span<const PresetValue> values;
};

/// All presets; the first is `custom`, which sets nothing.
std::span<const Preset> presets();

/// Sets `values` to preset `number` (not custom): filter, common and filter parameters, but for preview.
void apply_preset(int number, Values& values);

/// Their names, as choices of the property.
std::span<const Choice> preset_choices();

}  // namespace quietframe::gst
