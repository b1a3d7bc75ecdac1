// The table of presets. docs/tuning.md says what each is for and how it was found.
#include "presets.hpp"

#include <cstdlib>
#include <string>
#include <vector>

namespace quietframe::gst {
namespace {

constexpr PresetValue light[] = {{"filter", "wavelet"}};
constexpr PresetValue medium[] = {{"filter", "bilateral"}};
constexpr PresetValue strong[] = {{"filter", "nlm"}};
constexpr PresetValue ultrasound[] = {{"filter", "nlm"}, {"nlm-patch-radius", "3"}, {"noise-sigma", "20"}};
constexpr PresetValue mri[] = {{"filter", "nlm"}, {"nlm-patch-radius", "1"}, {"nlm-search-radius", "5"}};
constexpr PresetValue low_light[] = {
    {"filter", "nlm"}, {"nlm-temporal-radius", "1"}, {"noise-estimate", "smoothed"}};

constexpr Preset table[] = {
    {"custom", "The properties as they were set one by one", {}},
    {"light", "A little noise: shrinks the finest wavelet coefficients", light},
    {"medium", "Visible noise: a blur that stops at edges", medium},
    {"strong", "Much noise: averages what looks alike", strong},
    {"ultrasound",
     "Speckle: larger patches, and a strength of its own, since speckle is too coarse for the "
     "estimate of the noise",
     ultrasound},
    {"mri", "Magnitude images of magnetic resonance: small patches, near ones", mri},
    {"low-light", "A camera in the dark: searches the frame before, too", low_light},
};

double number_of(const ParamInfo& row, const std::string& text) {
  for (std::size_t i = 0; i < row.choices.size(); ++i)
    if (text == row.choices[i].nick) return static_cast<double>(i);
  return std::strtod(text.c_str(), nullptr);
}

void set(Values& values, const std::string& property, const std::string& text) {
  for (const auto& row : common_params)
    if (property == row.name) row.set(&values.common, number_of(row, text));
  for (std::size_t f = 0; f < all_filters().size(); ++f) {
    const auto& filter = all_filters()[f];
    if (property == "filter" && text == filter.name) values.filter = static_cast<int>(f) + 1;
    for (const auto& row : filter.params)
      if (property == std::string(filter.name) + "-" + row.name)
        row.set(values.filters[f].data(), number_of(row, text));
  }
}

}  // namespace

std::span<const Preset> presets() { return table; }

void apply_preset(int number, Values& values) {
  const auto preview = values.common.preview;
  values.common = stream_defaults;
  values.common.preview = preview;
  for (std::size_t f = 0; f < all_filters().size(); ++f)
    all_filters()[f].construct_params(values.filters[f].data());
  for (const auto& v : table[number].values) set(values, v.property, v.value);
  values.preset = number;
}

std::span<const Choice> preset_choices() {
  static const std::vector<Choice> choices = [] {
    std::vector<Choice> list;
    for (const auto& preset : table) list.push_back({preset.nick, preset.blurb});
    return list;
  }();
  return choices;
}

}  // namespace quietframe::gst
