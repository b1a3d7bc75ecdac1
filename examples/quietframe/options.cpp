// Flags made from rows, and the small parsers of their values.
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "errors.hpp"

namespace quietframe::cli {
namespace {

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<int> to_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string names_of(std::span<const Choice> choices, const char* separator) {
  std::string all;
  for (const auto& c : choices) all += fmt::format("{}{}", all.empty() ? "" : separator, c.nick);
  return all;
}

std::string described(const ParamInfo& row) {
  std::string text = row.blurb;
  for (const auto& c : row.choices) text += fmt::format("\n  {}: {}", c.nick, c.blurb);
  return text;
}

}  // namespace

double parse_value(const ParamInfo& row, std::string_view text) {
  if (row.type == ParamType::Enum) {
    const auto it =
        std::ranges::find(row.choices, text, [](const Choice& c) { return std::string_view(c.nick); });
    if (it == row.choices.end())
      throw UsageError(fmt::format("{} is none of: {}", text, names_of(row.choices, ", ")));
    return static_cast<double>(it - row.choices.begin());
  }
  if (row.type == ParamType::Bool) {
    for (const char* yes : {"yes", "true", "on", "1"})
      if (text == yes) return 1;
    for (const char* no : {"no", "false", "off", "0"})
      if (text == no) return 0;
    throw UsageError(fmt::format("{} is neither yes nor no", text));
  }
  const auto value = to_number(text);
  const bool whole = row.type == ParamType::Float || (value && *value == std::floor(*value));
  if (!value || !whole || *value < row.minimum || *value > row.maximum)
    throw UsageError(fmt::format("{} is not {} in {}", text,
                                 row.type == ParamType::Int ? "a whole number" : "a number",
                                 value_range(row)));
  return *value;
}

std::string value_text(const ParamInfo& row, double value) {
  if (row.type == ParamType::Enum) return row.choices[static_cast<std::size_t>(value)].nick;
  if (row.type == ParamType::Bool) return value != 0 ? "yes" : "no";
  return fmt::format("{}", static_cast<float>(value));
}

std::string value_range(const ParamInfo& row) {
  if (row.type == ParamType::Enum) return names_of(row.choices, "|");
  if (row.type == ParamType::Bool) return "yes|no";
  return fmt::format("{}..{}{}{}", row.minimum, row.maximum, *row.unit ? " " : "", row.unit);
}

std::vector<CLI::Option*> add_params(CLI::App& app, std::span<const ParamInfo> rows, void* params,
                                     const std::string& prefix, const std::string& group) {
  std::vector<CLI::Option*> options;
  for (const auto& row : rows) {
    const auto flag = "--" + prefix + row.name;
    auto keep = [&row, params, flag](const std::string& text) {
      try {
        row.set(params, parse_value(row, text));
      } catch (const UsageError& e) {
        throw CLI::ValidationError(flag, e.what());
      }
    };
    auto* option = app.add_option_function<std::string>(flag, keep, described(row));
    option->type_name(value_range(row))->group(group)->default_str(value_text(row, row.default_value));
    options.push_back(option);
  }
  return options;
}

const FilterInfo& default_filter() {
  const auto* wavelet = find_filter("wavelet");
  return wavelet ? *wavelet : all_filters().front();
}

const FilterInfo* filter_by_name(const std::string& name) {
  if (name == "none") return nullptr;
  if (const auto* found = find_filter(name)) return found;
  std::string all;
  for (const auto& f : all_filters()) all += fmt::format("{}, ", f.name);
  throw UsageError(fmt::format("there is no filter {}; there are {}none", name, all));
}

void FilterOptions::add_to(CLI::App& app) {
  name_ = default_filter().name;
  std::string blurb = "Filter";
  for (const auto& f : all_filters()) blurb += fmt::format("\n  {}: {}", f.name, f.blurb);
  app.add_option("-f,--filter", name_, blurb + "\n  none: the input, bit for bit")
      ->type_name("NAME")
      ->capture_default_str();
  filters_.reserve(all_filters().size());
  for (const auto& f : all_filters()) {
    auto& mine = filters_.emplace_back(Filter{&f, default_settings(f), {}});
    mine.options = add_params(app, f.params, mine.settings.params.data(), std::string(f.name) + "-",
                              fmt::format("Filter {}", f.name));
  }
  add_params(app, common_params, &common_, "", "All filters");
}

FrameSettings FilterOptions::settings() const {
  const auto* chosen = filter_by_name(name_);
  FrameSettings settings;
  for (const auto& f : filters_) {
    if (f.info == chosen) {
      settings = f.settings;
      continue;
    }
    for (const auto* option : f.options)
      if (option->count() > 0)
        throw UsageError(fmt::format("{} belongs to the filter {}; add --filter {}, or leave it out",
                                     option->get_name(), f.info->name, f.info->name));
  }
  settings.common = common_;
  return settings;
}

std::string settings_text(const FrameSettings& settings, const char* dashes, const char* join) {
  std::string text;
  auto add = [&](const std::string& prefix, std::span<const ParamInfo> rows, const void* params) {
    for (const auto& row : rows)
      if (const double v = row.get(params); static_cast<float>(v) != static_cast<float>(row.default_value))
        text += fmt::format(" {}{}{}{}{}", dashes, prefix, row.name, join, value_text(row, v));
  };
  const auto* filter = settings.filter;
  text = fmt::format("{}filter{}{}", dashes, join, filter ? filter->name : "none");
  if (filter) add(std::string(filter->name) + "-", filter->params, settings.params.data());
  add("", common_params, &settings.common);
  return text;
}

void BackendOptions::add_to(CLI::App& app) {
  static constexpr ParamInfo rows[] = {{"backend", "", "Where frames are filtered", ParamType::Enum, 0, 0,
                                        static_cast<double>(std::size(backend_choices) - 1), 0,
                                        backend_choices}};
  add_params(app, rows, &request_.choice, "", "Backend");
  app.add_option("--device", request_.cuda_device, "CUDA device; -1 is the first")
      ->type_name("N")
      ->group("Backend")
      ->capture_default_str()
      ->check(CLI::Range(-1, 1023));
  app.add_option("--threads", request_.threads, "Threads of the CPU backend; 0 is one for each CPU")
      ->type_name("N")
      ->group("Backend")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
}

void DepthOption::add_to(CLI::App& app) {
  app.add_option("--depth", depth_, "Write samples of 8 or 16 bits, or float; as the input has, if not given")
      ->type_name("8|16|float")
      ->check(CLI::IsMember({"8", "16", "float"}));
}

Picture DepthOption::apply(const Picture& picture) const {
  if (depth_.empty()) return picture;
  if (depth_ == "float") return as_float(picture);
  return with_max_code(picture, depth_ == "8" ? 255 : 65535);
}

void RawOption::add_to(CLI::App& app) {
  app.add_option("--raw", spec_,
                 "The input has no header: frames of this size and GStreamer format one after another, "
                 "and for GRAY16 the bits in use, as 640x480:NV12 or 1024x1024:GRAY16_LE:12")
      ->type_name("WxH:FORMAT[:BITS]");
}

std::optional<FrameFormat> RawOption::format() const {
  if (spec_.empty()) return {};
  return parse_raw_format(spec_);
}

Size parse_size(std::string_view text) {
  const auto parts = split(text, 'x');
  const auto width = parts.size() == 2 ? to_int(parts[0]) : std::nullopt,
             height = parts.size() == 2 ? to_int(parts[1]) : std::nullopt;
  if (!width || !height || *width < 1 || *height < 1 || *width > max_side || *height > max_side)
    throw UsageError(fmt::format("{} is not a size; write it as 640x480, each way 1 to {}", text, max_side));
  return {*width, *height};
}

FrameFormat parse_raw_format(std::string_view spec) {
  const auto parts = split(spec, ':');
  if (parts.size() < 2 || parts.size() > 3)
    throw UsageError(fmt::format("{} does not say what the file holds; write it as 640x480:NV12", spec));
  const auto size = parse_size(parts[0]);
  const auto* info = find_format(parts[1]);
  if (!info || info->type == SampleType::f32) {
    std::string all;
    for (const auto& f : all_formats())
      if (f.type != SampleType::f32) all += fmt::format(" {}", f.name);
    throw UsageError(fmt::format("{} is no format; there are{}", parts[1], all));
  }
  FrameFormat format{info->format, size.width, size.height, 0};
  if (parts.size() == 3) {
    const bool container = info->format == PixelFormat::gray16_le || info->format == PixelFormat::gray16_be;
    const auto bits = to_int(parts[2]);
    if (!container || !bits || *bits < 9 || *bits > 16)
      throw UsageError(
          fmt::format("{} bits in use make no sense here; GRAY16_LE and GRAY16_BE take 9 to 16", parts[2]));
    format.bit_depth = *bits;
  }
  return format;
}

Rect parse_rect(std::string_view text) {
  const auto parts = split(text, ',');
  std::array<int, 4> n{};
  bool good = parts.size() == 4;
  for (std::size_t i = 0; good && i < 4; ++i) {
    const auto v = to_int(parts[i]);
    good = v.has_value() && *v >= (i < 2 ? 0 : 1) && *v <= max_side;
    if (good) n[i] = *v;
  }
  if (!good)
    throw UsageError(fmt::format("{} is not a rectangle; write it as x,y,width,height in pixels", text));
  return {n[0], n[1], n[2], n[3]};
}

}  // namespace quietframe::cli
