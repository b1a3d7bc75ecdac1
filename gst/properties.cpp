// GParamSpecs from parameter rows. One list of targets, indexed by property id, serves set, get and install.
#include "properties.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <span>
#include <string>

#include "presets.hpp"

namespace quietframe::gst {
namespace {

enum class Owner { preset, filter_choice, element, common, filter };

struct Target {
  Owner owner;
  const ParamInfo* row;  ///< null for preset and filter_choice
  std::size_t filter;    ///< index into all_filters() for Owner::filter
};

std::string property_name(const Target& t) {
  if (t.owner == Owner::preset) return "preset";
  if (t.owner == Owner::filter_choice) return "filter";
  return t.owner == Owner::filter ? std::string(all_filters()[t.filter].name) + "-" + t.row->name
                                  : t.row->name;
}

// Ids count from `first_id`, which install() is given once.
guint first_id = 0;
std::span<const Target> targets() {
  static const std::vector<Target> list = [] {
    std::vector<Target> t{{Owner::preset, nullptr, 0}, {Owner::filter_choice, nullptr, 0}};
    for (const auto& row : element_params) t.push_back({Owner::element, &row, 0});
    for (const auto& row : stream_params) t.push_back({Owner::common, &row, 0});
    for (std::size_t f = 0; f < all_filters().size(); ++f)
      for (const auto& row : all_filters()[f].params) t.push_back({Owner::filter, &row, f});
    return t;
  }();
  return list;
}

const Target* target_of(guint id) {
  return id >= first_id && id - first_id < targets().size() ? &targets()[id - first_id] : nullptr;
}

void* storage(Values& v, const Target& t) {
  if (t.owner == Owner::element) return &v.element;
  if (t.owner == Owner::common) return &v.common;
  return v.filters[t.filter].data();
}

double value_of(Values& v, const Target& t) {
  if (t.owner == Owner::preset) return v.preset;
  if (t.owner == Owner::filter_choice) return v.filter;
  return t.row->get(storage(v, t));
}

// Whether presets set it.
bool is_preset(const Target& t) {
  if (t.owner == Owner::common) return t.row->name != std::string_view("preview");
  return t.owner == Owner::filter_choice || t.owner == Owner::filter;
}

// Enumerations. The text form of an unknown value is answered with the known ones, which GLib's own does not.
gboolean deserialize_enum(GValue* value, const char* text) {
  auto* klass = static_cast<GEnumClass*>(g_type_class_ref(G_VALUE_TYPE(value)));
  const auto* found = g_enum_get_value_by_nick(klass, text);
  if (!found) found = g_enum_get_value_by_name(klass, text);
  char* end = nullptr;
  if (const auto number = std::strtol(text, &end, 10); !found && end != text && *end == '\0')
    found = g_enum_get_value(klass, static_cast<int>(number));
  if (found) {
    g_value_set_enum(value, found->value);
  } else {
    std::string known;
    for (guint i = 0; i < klass->n_values; ++i)
      known += (i == 0 ? "" : ", ") + std::string(klass->values[i].value_nick);
    g_warning("videodenoise: '%s' is not one of %s", text, known.c_str());
  }
  g_type_class_unref(klass);
  return found != nullptr;
}

int compare_enum(const GValue* a, const GValue* b) {
  const int x = g_value_get_enum(a), y = g_value_get_enum(b);
  return x == y ? GST_VALUE_EQUAL : x < y ? GST_VALUE_LESS_THAN : GST_VALUE_GREATER_THAN;
}

gchar* serialize_enum(const GValue* value) {
  auto* klass = static_cast<GEnumClass*>(g_type_class_ref(G_VALUE_TYPE(value)));
  const auto* found = g_enum_get_value(klass, g_value_get_enum(value));
  auto* text = found ? g_strdup(found->value_nick) : nullptr;
  g_type_class_unref(klass);
  return text;
}

// Registered types live as long as the process, and so do their tables.
GType register_enum(const std::string& name, std::span<const Choice> choices) {
  auto* values = g_new0(GEnumValue, choices.size() + 1);
  for (std::size_t i = 0; i < choices.size(); ++i)
    values[i] = {static_cast<int>(i), choices[i].blurb, choices[i].nick};
  const GType type = g_enum_register_static(name.c_str(), values);  // NOLINT(clang-analyzer-unix.Malloc)
  auto* table = g_new0(GstValueTable, 1);
  table->type = type;
  table->compare = compare_enum;
  table->serialize = serialize_enum;
  table->deserialize = deserialize_enum;
  gst_value_register(table);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

std::string camel_case(const std::string& kebab) {
  std::string out;
  bool upper = true;
  for (const char c : kebab) {
    if (c == '-' || c == '_') {
      upper = true;
    } else {
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return out;
}

GType filter_type() {
  static const GType type = [] {
    std::vector<Choice> choices{{"none", "Frames pass untouched"}};
    for (const auto& f : all_filters()) choices.push_back({f.name, f.blurb});
    return register_enum("QuietframeFilter", choices);
  }();
  return type;
}

GParamSpec* make_spec(const Target& t) {
  const auto name = property_name(t);
  const bool fixed_when_running = t.owner == Owner::element && (t.row->name == std::string("backend") ||
                                                                t.row->name == std::string("cuda-device-id"));
  int flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  flags |= fixed_when_running ? GST_PARAM_MUTABLE_READY : GST_PARAM_MUTABLE_PLAYING;
  if (t.owner != Owner::element && t.owner != Owner::preset) flags |= GST_PARAM_CONTROLLABLE;
  const auto pf = static_cast<GParamFlags>(flags);
  const char* id = g_intern_string(name.c_str());
  if (t.owner == Owner::preset)
    return g_param_spec_enum(
        id, id,
        "A set of the other properties; custom once one of those was changed, and nothing "
        "is set by setting it",
        register_enum("QuietframePreset", preset_choices()), 0, pf);
  if (t.owner == Owner::filter_choice)
    return g_param_spec_enum(id, id, "Which filter", filter_type(), default_filter(), pf);
  const auto& row = *t.row;
  const char* blurb = g_intern_string(
      (std::string(row.blurb) + (*row.unit ? " [" + std::string(row.unit) + "]" : "")).c_str());
  switch (row.type) {
    case ParamType::Int:
      return g_param_spec_int(id, id, blurb, static_cast<int>(row.minimum), static_cast<int>(row.maximum),
                              static_cast<int>(row.default_value), pf);
    case ParamType::Float:
      return g_param_spec_float(id, id, blurb, static_cast<float>(row.minimum),
                                static_cast<float>(row.maximum), static_cast<float>(row.default_value), pf);
    case ParamType::Bool:
      return g_param_spec_boolean(id, id, blurb, row.default_value != 0, pf);
    case ParamType::Enum:
      break;
  }
  return g_param_spec_enum(id, id, blurb, register_enum("Quietframe" + camel_case(name), row.choices),
                           static_cast<int>(row.default_value), pf);
}

double number_of(ParamType type, const GValue* value) {
  switch (type) {
    case ParamType::Int:
      return g_value_get_int(value);
    case ParamType::Float:
      return static_cast<double>(g_value_get_float(value));
    case ParamType::Bool:
      return g_value_get_boolean(value) ? 1 : 0;
    case ParamType::Enum:
      break;
  }
  return g_value_get_enum(value);
}

void put_number(ParamType type, double number, GValue* value) {
  switch (type) {
    case ParamType::Int:
      return g_value_set_int(value, static_cast<int>(number));
    case ParamType::Float:
      return g_value_set_float(value, static_cast<float>(number));
    case ParamType::Bool:
      return g_value_set_boolean(value, number != 0);
    case ParamType::Enum:
      break;
  }
  g_value_set_enum(value, static_cast<int>(number));
}

}  // namespace

int default_filter() {
  const auto filters = all_filters();
  const auto it =
      std::ranges::find_if(filters, [](const FilterInfo& f) { return f.name == std::string("wavelet"); });
  return it == filters.end() ? 1 : static_cast<int>(it - filters.begin()) + 1;
}

const FilterInfo* filter_of(int number) {
  return number > 0 ? &all_filters()[static_cast<std::size_t>(number) - 1] : nullptr;
}

Properties::Properties() {
  values_.filter = default_filter();
  values_.common = stream_defaults;
  for (const auto& f : all_filters()) f.construct_params(values_.filters.emplace_back().data());
}

bool Properties::set(guint id, const GValue* value, std::vector<std::string>* changed) {
  const auto* t = target_of(id);
  if (!t) return false;
  const std::lock_guard lock(mutex_);
  if (t->owner == Owner::preset) {
    auto before = values_;
    values_.preset = g_value_get_enum(value);
    if (values_.preset != 0) apply_preset(values_.preset, values_);
    for (const auto& other : targets())
      if (is_preset(other) && value_of(before, other) != value_of(values_, other))
        changed->push_back(property_name(other));
    return true;
  }
  const double before = value_of(values_, *t);
  if (t->owner == Owner::filter_choice)
    values_.filter = g_value_get_enum(value);
  else
    t->row->set(storage(values_, *t), number_of(t->row->type, value));
  if (values_.preset != 0 && is_preset(*t) && value_of(values_, *t) != before) {
    values_.preset = 0;
    changed->emplace_back("preset");
  }
  return true;
}

bool Properties::get(guint id, GValue* value) const {
  const auto* t = target_of(id);
  if (!t) return false;
  const std::lock_guard lock(mutex_);
  if (!t->row)
    g_value_set_enum(value, static_cast<int>(value_of(const_cast<Values&>(values_), *t)));
  else
    put_number(t->row->type, t->row->get(storage(const_cast<Values&>(values_), *t)), value);
  return true;
}

Properties::Snapshot Properties::snapshot() const {
  const std::lock_guard lock(mutex_);
  Snapshot s{};
  s.frame.filter = filter_of(values_.filter);
  if (values_.filter > 0) s.frame.params = values_.filters[static_cast<std::size_t>(values_.filter) - 1];
  s.frame.common = values_.common;
  s.element = values_.element;
  s.passthrough = changes_nothing(s.frame);
  return s;
}

int Properties::stats_interval() const {
  const std::lock_guard lock(mutex_);
  return values_.element.stats_interval;
}

guint Properties::install(GObjectClass* klass, guint first) {
  first_id = first;
  guint id = first;
  for (const auto& t : targets()) g_object_class_install_property(klass, id++, make_spec(t));
  return id;
}

}  // namespace quietframe::gst
