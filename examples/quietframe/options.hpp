// Flags that several commands share, made from the tables of parameters.
#pragma once
#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter.hpp"
#include "picture.hpp"
#include "processor.hpp"

namespace quietframe::cli {

/// The value that `text` gives a parameter; throws UsageError that says what it may be.
double parse_value(const ParamInfo& info, std::string_view text);
/// As parse_value reads it: a choice's nick, yes or no, or the shortest number.
std::string value_text(const ParamInfo& info, double value);
/// "0..255 levels", "soft|hard|garrote".
std::string value_range(const ParamInfo& info);

/// One flag --PREFIXNAME for each row, under the help heading `group`, kept in `params`, which outlives the
/// app. Returns the options in the order of the rows.
std::vector<CLI::Option*> add_params(CLI::App& app, std::span<const ParamInfo> rows, void* params,
                                     const std::string& prefix, const std::string& group);

/// --filter, every filter's parameters as --FILTER-NAME (the names of the element's properties), and the
/// common ones.
class FilterOptions {
 public:
  void add_to(CLI::App& app);
  /// What was asked for; throws UsageError where a flag belongs to a filter that was not chosen. No filter is
  /// "none".
  FrameSettings settings() const;

 private:
  struct Filter {
    const FilterInfo* info;
    FrameSettings settings;
    std::vector<CLI::Option*> options;
  };
  std::string name_;
  std::vector<Filter> filters_;
  CommonParams common_;
};

/// The filter that is used when none is named.
const FilterInfo& default_filter();
/// By name, null for "none"; throws UsageError that lists the names.
const FilterInfo* filter_by_name(const std::string& name);
/// "--nlm-h 20 --nlm-patch-radius 3": what differs from the defaults, for `join` "=" as properties of the
/// element.
std::string settings_text(const FrameSettings& settings, const char* dashes, const char* join);

/// --backend, --device, --threads.
class BackendOptions {
 public:
  void add_to(CLI::App& app);
  BackendRequest request() const { return request_; }

 private:
  BackendRequest request_;
  int choice_ = 0;
};

/// --depth: with how many bits samples are written.
class DepthOption {
 public:
  void add_to(CLI::App& app);
  /// The picture as asked for; unchanged where nothing was.
  Picture apply(const Picture& picture) const;

 private:
  std::string depth_;
};

/// --raw WIDTHxHEIGHT:FORMAT: what a file without a header holds.
class RawOption {
 public:
  void add_to(CLI::App& app);
  std::optional<FrameFormat> format() const;

 private:
  std::string spec_;
};
/// Parses "640x480:GRAY16_LE" or "640x480:GRAY16_LE:12" (bits in use); throws UsageError.
FrameFormat parse_raw_format(std::string_view spec);

/// "x,y,w,h"; throws UsageError.
Rect parse_rect(std::string_view text);
/// "640x480"; throws UsageError.
struct Size {
  int width = 0, height = 0;
};
Size parse_size(std::string_view text);

}  // namespace quietframe::cli
