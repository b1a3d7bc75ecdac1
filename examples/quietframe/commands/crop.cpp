// quietframe crop: cuts a rectangle out of a picture, its samples untouched.
#include <cstring>

#include <fmt/format.h>

#include "command.hpp"
#include "files.hpp"
#include "options.hpp"

namespace quietframe::cli {
namespace {

struct Options {
  InputOutput files;
  std::string rect;
};

Picture crop(const Picture& p, const Rect& r) {
  if (r.x + r.width > p.width || r.y + r.height > p.height)
    throw UsageError(fmt::format("--rect {},{},{},{} reaches outside of the {}x{} picture", r.x, r.y, r.width,
                                 r.height, p.width, p.height));
  Picture out{r.width, r.height, p.channels, p.max_code, {}, p.carried};
  out.allocate();
  const auto pixel = static_cast<std::size_t>(p.channels) * static_cast<std::size_t>(p.sample_bytes());
  for (int y = 0; y < r.height; ++y)
    std::memcpy(out.row(y), p.row(r.y + y) + pixel * static_cast<std::size_t>(r.x), out.row_bytes());
  return out;
}

}  // namespace

Run make_crop(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  o->files.add_to(app, "Picture", "Where to write; NAME_crop beside the input, if not given");
  app.add_option("--rect", o->rect, "Left, top, width and height in pixels")
      ->type_name("X,Y,W,H")
      ->required();
  return [o] {
    const auto rect = parse_rect(o->rect);
    const auto output = o->files.output_or("_crop");
    check_can_write(output);
    const auto cut = crop(named_read(o->files.input), rect);
    named_write(output, cut);
    return ExitCode::ok;
  };
}

}  // namespace quietframe::cli
