// quietframe compare: two pictures side by side, and a picture of their difference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "command.hpp"
#include "files.hpp"
#include "options.hpp"
#include "quality.hpp"

namespace quietframe::cli {
namespace {

struct Options {
  std::string first, second, output, difference;
  double gain = 4;
};

Picture side_by_side(const Picture& a, const Picture& b) {
  auto out = blank_picture(a.width + b.width, a.height, a.channels, a.max_code);
  for (int y = 0; y < a.height; ++y) {
    std::memcpy(out.row(y), a.row(y), a.row_bytes());
    std::memcpy(out.row(y) + a.row_bytes(), b.row(y), b.row_bytes());
  }
  return out;
}

struct Difference {
  Picture picture;
  long long samples = 0, differing = 0;
  double largest = 0;  ///< codes
};

// Equal is mid gray; `gain` times the difference shows round it.
Difference difference_of(const Picture& a, const Picture& b, double gain) {
  const auto p = to_planes(a, Unit::codes), q = to_planes(b, Unit::codes);
  const double levels = 255 / (a.is_float() ? 1.0 : a.max_code);
  Difference d{blank_picture(a.width, a.height, a.colours(), 255), 0, 0, 0};
  Planes shown(a.width, a.height, a.colours());
  for (int c = 0; c < a.colours(); ++c)
    for (int y = 0; y < a.height; ++y) {
      const auto i = static_cast<std::size_t>(c);
      for (int x = 0; x < a.width; ++x) {
        const double v = static_cast<double>(p.group.channel[i].row(y)[x]) -
                         static_cast<double>(q.group.channel[i].row(y)[x]);
        ++d.samples;
        d.differing += v != 0;
        d.largest = std::max(d.largest, std::abs(v));
        shown.group.channel[i].row(y)[x] = static_cast<float>(128 + gain * levels * v);
      }
    }
  from_levels(shown.group, d.picture);
  return d;
}

ExitCode compare(const Options& o) {
  for (const auto& name : {o.output, o.difference})
    if (!name.empty()) check_can_write(name);
  const auto a = named_read(o.first);
  const auto raw = named_read(o.second);
  ThreadPool pool(0);
  Quality quality;
  with_name(o.second, [&] { quality = compare_pictures(a, raw, pool); });
  const auto b = a.is_float() ? as_float(raw) : with_max_code(raw, a.max_code);
  const auto d = difference_of(a, b, o.gain);
  fmt::print("{} of {} samples differ, by {:.6g} of {} at most; {}\n", d.differing, d.samples, d.largest,
             a.is_float() ? 1 : a.max_code, to_text(quality));
  if (!o.difference.empty()) named_write(o.difference, d.picture);
  if (!o.output.empty()) {
    if (a.channels != b.channels)
      throw FileError(o.second + " has alpha and the other has not: side by side they make no picture");
    named_write(o.output, side_by_side(a, b));
  }
  return ExitCode::ok;
}

}  // namespace

Run make_compare(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("first", o->first, "Picture")->type_name("FILE")->required();
  app.add_option("second", o->second, "Picture of the same size")->type_name("FILE")->required();
  app.add_option("-o,--output", o->output, "Write both side by side")->type_name("FILE");
  app.add_option("-d,--difference", o->difference, "Write first - second: gray where equal")
      ->type_name("FILE");
  app.add_option("--gain", o->gain, "How much the difference is enlarged")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 255.0));
  return [o] { return compare(*o); };
}

}  // namespace quietframe::cli
