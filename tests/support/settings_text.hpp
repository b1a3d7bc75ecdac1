// Filter settings from a line of text, "h=10 patch-radius=1", by the rows of the parameter table.
#pragma once
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

#include "filter.hpp"

namespace quietframe::test {

inline const ParamInfo& find_param(const FilterInfo& filter, const std::string& name) {
  for (const auto& row : filter.params)
    if (name == row.name) return row;
  throw std::invalid_argument(std::string(filter.name) + " has no parameter " + name);
}

inline void set_param(FrameSettings& s, const std::string& name, const std::string& value) {
  const auto& row = find_param(*s.filter, name);
  for (std::size_t i = 0; i < row.choices.size(); ++i)
    if (value == row.choices[i].nick) return row.set(s.params.data(), static_cast<double>(i));
  row.set(s.params.data(), std::stod(value));
}

/// `noise-sigma` is understood too.
inline FrameSettings settings_from(const std::string& filter, const std::string& text) {
  const auto* info = find_filter(filter);
  if (!info) throw std::invalid_argument("no filter " + filter);
  auto s = default_settings(*info);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "noise-sigma")
      s.common.noise_sigma = std::stof(value);
    else
      set_param(s, name, value);
  }
  return s;
}

}  // namespace quietframe::test
