// quietframe metrics: PSNR, SSIM and MSE against a reference; CNR, gCNR and ENL of regions.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "command.hpp"
#include "files.hpp"
#include "options.hpp"
#include "quality.hpp"
#include "quality/metrics.hpp"

namespace quietframe::cli {
namespace {

struct Options {
  std::string input, reference;
  std::vector<std::string> regions;
  bool json = false;
};

struct Value {
  const char* name;
  double value;
  const char* unit;
};

// JSON has no infinity and no NaN.
std::string number(double v) { return std::isfinite(v) ? fmt::format("{:.17g}", v) : "null"; }

void print(const std::vector<Value>& values, bool json) {
  if (!json) {
    for (const auto& v : values)
      fmt::print("{:<10} {:.6g}{}{}\n", v.name, v.value, *v.unit ? " " : "", v.unit);
    return;
  }
  std::string body;
  for (const auto& v : values)
    body += fmt::format("{}\"{}\": {}", body.empty() ? "" : ", ", v.name, number(v.value));
  fmt::print("{{{}}}\n", body);
}

Rect region_of(const std::string& text, const Picture& p) {
  const auto r = parse_rect(text);
  if (r.x + r.width > p.width || r.y + r.height > p.height)
    throw UsageError(fmt::format("--roi {} reaches outside of the {}x{} picture", text, p.width, p.height));
  return r;
}

// Colour is measured by the mean of its channels, as one plane.
Planes gray_of(const Picture& p) {
  auto planes = to_planes(p, Unit::codes);
  const auto n = static_cast<float>(planes.group.channels);
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      float sum = 0;
      for (int c = 0; c < planes.group.channels; ++c)
        sum += planes.group.channel[static_cast<std::size_t>(c)].row(y)[x];
      planes.group.channel[0].row(y)[x] = sum / n;
    }
  return planes;
}

void measure_regions(const Options& o, const Picture& p, std::vector<Value>& values) {
  if (o.regions.empty()) return;
  const auto planes = gray_of(p);
  const auto plane = as_const(planes.group.channel[0]);
  const auto a = region_of(o.regions[0], p);
  const auto stats = region_stats(plane, a);
  values.push_back({"mean", stats.mean, ""});
  values.push_back({"sigma", std::sqrt(stats.variance), ""});
  values.push_back({"enl", enl(stats), ""});
  if (o.regions.size() < 2) return;
  const auto b = region_of(o.regions[1], p);
  values.push_back({"cnr", cnr(stats, region_stats(plane, b)), ""});
  values.push_back({"gcnr", gcnr(plane, a, b), ""});
}

ExitCode measure(const Options& o) {
  if (o.reference.empty() && o.regions.empty())
    throw UsageError(
        "nothing to measure: give --reference FILE, or --roi x,y,w,h once (ENL) or twice (CNR, gCNR)");
  if (o.regions.size() > 2) throw UsageError("--roi is taken once (ENL) or twice (CNR, gCNR)");
  const auto picture = named_read(o.input);
  std::vector<Value> values;
  if (!o.reference.empty()) {
    ThreadPool pool(0);
    const auto reference = named_read(o.reference);
    with_name(o.input, [&] {
      const auto q = compare_pictures(reference, picture, pool);
      values = {{"psnr", q.psnr, "dB"}, {"ssim", q.ssim, ""}, {"mse", q.mse, ""}};
    });
  }
  measure_regions(o, picture, values);
  print(values, o.json);
  return ExitCode::ok;
}

}  // namespace

Run make_metrics(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("input,-i,--input", o->input, "Picture to measure")->type_name("FILE")->required();
  app.add_option("-r,--reference", o->reference, "Clean picture: prints PSNR, SSIM and MSE")
      ->type_name("FILE");
  app.add_option("--roi", o->regions,
                 "Region: mean, sigma and ENL; given twice, also CNR and gCNR of the two")
      ->type_name("X,Y,W,H")
      ->delimiter(';')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--json", o->json, "Print JSON, with every digit");
  return [o] { return measure(*o); };
}

}  // namespace quietframe::cli
