// Fuzzes the parsers of values on the command line: sizes, rectangles, raw formats, and every parameter's
// own. The first byte says which.
#include <cstdlib>
#include <vector>

#include "errors.hpp"
#include "options.hpp"
#include "target.hpp"

namespace quietframe::cli {
namespace {

const std::vector<const ParamInfo*>& all_rows() {
  static const auto rows = [] {
    std::vector<const ParamInfo*> all;
    for (const auto& f : all_filters())
      for (const auto& row : f.params) all.push_back(&row);
    for (const auto& row : common_params) all.push_back(&row);
    return all;
  }();
  return rows;
}

// A value that is taken lies in its range, and is read again as it is written.
void check_value(const ParamInfo& row, std::string_view text) {
  const double value = parse_value(row, text);
  if (!(value >= row.minimum && value <= row.maximum)) std::abort();
  alignas(16) std::byte params[max_params_size];
  row.set(params, value);
  if (parse_value(row, value_text(row, row.get(params))) != row.get(params)) {
    // The shortest text of a float may differ from it in double; as a float it must not.
    const auto again = static_cast<float>(parse_value(row, value_text(row, row.get(params))));
    if (again != static_cast<float>(row.get(params))) std::abort();
  }
}

}  // namespace

void fuzz(Bytes input) {
  if (input.empty()) return;
  const auto kind = static_cast<std::size_t>(input.front());
  const auto text = head_text(input.subspan(1), input.size() - 1);
  try {
    switch (kind) {
      case 0:
        parse_size(text);
        break;
      case 1:
        parse_rect(text);
        break;
      case 2:
        parse_raw_format(text);
        break;
      default:
        check_value(*all_rows()[kind % all_rows().size()], text);
    }
  } catch (const UsageError&) {
  }
}

}  // namespace quietframe::cli
