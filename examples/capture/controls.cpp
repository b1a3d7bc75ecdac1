// Keys and command lines to property changes.
#include "capture/controls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace quietframe::examples {
namespace {

// Values of the element's enum property `filter`.
const GEnumClass* filter_enum(GstElement* denoise) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(denoise), "filter");
  return G_PARAM_SPEC_ENUM(spec)->enum_class;
}

double strength_of(GstElement* denoise) {
  GValue value = G_VALUE_INIT, wide = G_VALUE_INIT;
  g_value_init(&wide, G_TYPE_DOUBLE);
  g_object_get_property(G_OBJECT(denoise), "strength", &value);
  g_value_transform(&value, &wide);
  return g_value_get_double(&wide);
}

}  // namespace

Controls::Controls(GstElement* denoise, Actions actions) : denoise_(denoise), actions_(std::move(actions)) {}

const char* Controls::help() {
  return "keys: f next filter, b filter before, + stronger, - weaker, 0 bypass on/off, s split view, i "
         "statistics, q quit, h help\n"
         "lines: filter NAME | strength 0..1 | set PROPERTY=VALUE | split | stats | quit | help";
}

std::string Controls::assign(const std::string& assignment) {
  try {
    set_property(denoise_, assignment);
  } catch (const PipelineError& error) {
    return error.what();
  }
  return assignment;
}

std::string Controls::next_filter(int step) {
  const GEnumClass* filters = filter_enum(denoise_);
  gint now = 0;
  g_object_get(denoise_, "filter", &now, nullptr);
  int index = 0;
  for (int i = 0; i < static_cast<int>(filters->n_values); ++i)
    if (filters->values[i].value == now) index = i;
  const int count = static_cast<int>(filters->n_values);
  return assign(std::string("filter=") + filters->values[(index + step + count) % count].value_nick);
}

std::string Controls::change_strength(double by) {
  const double wanted = std::clamp(std::round((strength_of(denoise_) + by) * 10) / 10, 0.0, 1.0);
  return assign(fmt::format("strength={:.1f}", wanted));
}

std::string Controls::bypass() {
  const double now = strength_of(denoise_);
  if (now > 0) {
    strength_before_bypass_ = now;
    return assign("strength=0") + " (bypass: frames pass bit for bit)";
  }
  return assign(fmt::format("strength={}", strength_before_bypass_));
}

std::string Controls::key(char key) {
  switch (key) {
    case 'f':
      return next_filter(1);
    case 'b':
      return next_filter(-1);
    case '+':
    case '=':
      return change_strength(0.1);
    case '-':
      return change_strength(-0.1);
    case '0':
      return bypass();
    case 's':
      if (!actions_.toggle_split) return "there is no preview to split";
      actions_.toggle_split();
      return "split view: input left, output right (again: off)";
    case 'i':
      actions_.statistics();
      return {};
    case 'q':
      actions_.quit();
      return "ending";
    case 'h':
      return help();
    default:
      return {};
  }
}

std::string Controls::line(const std::string& line) {
  if (line.empty()) return {};
  if (line.size() == 1) {
    const std::string result = key(line[0]);
    return result.empty() && line[0] != 'i' ? "no such key; h lists them" : result;
  }
  const auto space = line.find(' ');
  const std::string verb = line.substr(0, space),
                    rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (verb == "filter" || verb == "strength") return assign(verb + "=" + rest);
  if (verb == "set") return assign(rest);
  if (verb == "split") return key('s');
  if (verb == "stats") return key('i');
  if (verb == "quit") return key('q');
  if (verb == "help") return help();
  return "\"" + line + "\" is no command; help lists them";
}

}  // namespace quietframe::examples
