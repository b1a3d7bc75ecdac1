// quietframe devices, filters and formats: what this build and this machine can do.
#include <fmt/format.h>

#include "command.hpp"
#include "cuda/device.hpp"
#include "formats/codec.hpp"
#include "options.hpp"

namespace quietframe::cli {
namespace {

std::string cuda_version(int v) { return v ? fmt::format("{}.{}", v / 1000, v % 1000 / 10) : "none"; }

void print_rows(const std::string& prefix, std::span<const ParamInfo> rows) {
  for (const auto& row : rows) {
    fmt::print("  --{:<26} {:>9}  {}\n", prefix + row.name, value_text(row, row.default_value),
               value_range(row));
    fmt::print("      {}\n", row.blurb);
    for (const auto& c : row.choices) fmt::print("        {}: {}\n", c.nick, c.blurb);
  }
}

void print_filters_for_people() {
  for (const auto& f : all_filters()) {
    fmt::print("{}: {}\n", f.name, f.blurb);
    print_rows(std::string(f.name) + "-", f.params);
    fmt::print("\n");
  }
  fmt::print("all filters\n");
  print_rows("", common_params);
}

void print_filters_as_markdown() {
  fmt::print("| filter | parameter | default | range | meaning |\n|---|---|---|---|---|\n");
  auto rows = [](const char* filter, const std::string& prefix, std::span<const ParamInfo> params) {
    for (const auto& row : params) {
      auto range = value_range(row);
      for (std::size_t at = 0; (at = range.find('|', at)) != std::string::npos; at += 2)
        range.replace(at, 1, ", ");
      fmt::print("| {} | `{}{}` | {} | {} | {} |\n", filter, prefix, row.name,
                 value_text(row, row.default_value), range, row.blurb);
    }
  };
  for (const auto& f : all_filters()) rows(f.name, std::string(f.name) + "-", f.params);
  rows("all", "", common_params);
}

}  // namespace

Run make_devices(CLI::App&) {
  return [] {
    const auto probe = cuda::probe();
    for (const auto& d : probe.devices)
      fmt::print("cuda:{}  {}\n        {} multiprocessors, compute capability {}.{}, {:.1f} GiB\n", d.id,
                 d.name, d.multiprocessors, d.compute_major, d.compute_minor,
                 static_cast<double>(d.memory_bytes) / (1 << 30));
    if (probe.devices.empty()) fmt::print("no CUDA device: {}\n", probe.why_none);
    fmt::print("driver supports CUDA {}, runtime is CUDA {}\n", cuda_version(probe.driver_version),
               cuda_version(probe.runtime_version));
    fmt::print("cpu     {}\n", make_cpu_processor(0)->info().device);
    return ExitCode::ok;
  };
}

Run make_filters(CLI::App& app) {
  const auto markdown = std::make_shared<bool>(false);
  app.add_flag("--markdown", *markdown, "As a table in Markdown");
  return [markdown] {
    *markdown ? print_filters_as_markdown() : print_filters_for_people();
    return ExitCode::ok;
  };
}

Run make_formats(CLI::App&) {
  return [] {
    for (const auto& c : all_codecs()) fmt::print("{:<6} .{:<22} {}\n", c.name, c.extensions, c.what);
    fmt::print("{:<6} .{:<22} {}\n", "Y4M", "y4m",
               "read and written: clips of C420, C422, C444 and mono, 8 bits; C420p10; mono 9 to 16 bits");
    fmt::print("{:<6} {:<23} {}\n", "raw", "any, with --raw",
               "read and written: frames in one of GStreamer's formats, without a header");
    return ExitCode::ok;
  };
}

}  // namespace quietframe::cli
