// The quickstart: a noisy clip through videodenoise with every filter, a table of what came out, and a
// contact sheet.
#include <fmt/format.h>
#include <gst/gst.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>

#include "common/clip.hpp"
#include "common/run_main.hpp"
#include "filter.hpp"
#include "processor.hpp"
#include "quickstart/measure.hpp"
#include "quickstart/sheet.hpp"

namespace quietframe::examples {
namespace {

struct Options {
  ClipRequest clip;
  std::string size = "512x512", backend = "auto", output = "quickstart-output";
  std::vector<std::string> filters, settings;
};

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app("Runs a clip through videodenoise with every filter and shows what came out.");
  app.add_option("source", o.clip.source,
                 "A video file, a raw clip (with caps) or a camera (/dev/video0); none: a phantom");
  app.add_option("caps", o.clip.caps,
                 "Caps of a raw clip, e.g. video/x-raw,format=GRAY8,width=820,height=616,framerate=12/1");
  app.add_option("--frames", o.clip.frames, "Most frames to take")
      ->check(CLI::Range(2, 10000))
      ->capture_default_str();
  app.add_option("--size", o.size, "Width and height of the phantom")->capture_default_str();
  app.add_option("--backend", o.backend, "Where frames are filtered")
      ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
      ->capture_default_str();
  app.add_option("--filter", o.filters, "Only this filter; may be given again")->allow_extra_args(false);
  app.add_option("--set", o.settings, "PROPERTY=VALUE of videodenoise, for every filter; may be given again")
      ->allow_extra_args(false);
  app.add_option("--output", o.output, "Folder for the contact sheet")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (std::sscanf(o.size.c_str(), "%dx%d", &o.clip.width, &o.clip.height) != 2 || o.clip.width < 1 ||
      o.clip.height < 1 || o.clip.width > 8192 || o.clip.height > 8192)
    throw PipelineError("--size is WIDTHxHEIGHT, 1 to 8192 each, not " + o.size);
  if (o.filters.empty())
    for (const auto& filter : all_filters()) o.filters.emplace_back(filter.name);
  return o;
}

// The grains of speckle are larger than the pixels that the noise estimate looks at, so for the phantom it is
// given, and windows are as wide as a few grains. A user of a real machine would set the same.
std::vector<std::string> settings_for(const Options& o) {
  if (!o.clip.source.empty()) return o.settings;
  std::vector<std::string> all{"noise-sigma=26", "gaussian-sigma=2", "median-radius=3", "wavelet-levels=4"};
  all.insert(all.end(), o.settings.begin(), o.settings.end());
  return all;
}

std::string number(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

void print_head() {
  fmt::print("\n{:<11}{:>8}{:>8}{:>11}{:>11}{:>11}{:>10}{:>8}{:>8}  {}\n", "filter", "in", "out", "frames/s",
             "p50 ms", "p99 ms", "PSNR dB", "SSIM", "sigma", "ran on");
}

void print_row(const RunResult& r) {
  const std::string where = r.memory.empty() ? r.backend : r.backend + ", memory " + r.memory;
  fmt::print("{:<11}{:>8}{:>8}{:>11.1f}{:>11.2f}{:>11.2f}{:>10}{:>8}{:>8}  {}\n", r.filter, r.frames_in,
             r.frames_out, r.frames_per_second, r.latency.percentile(50) / 1000,
             r.latency.percentile(99) / 1000, number(r.psnr, 2), number(r.ssim, 3), number(r.sigma, 2),
             where);
  std::fflush(stdout);
}

std::string caption(const std::string& name, double psnr, double ssim) {
  return std::isnan(psnr) ? name : fmt::format("{}  {:.1f} dB  {:.2f}", name, psnr, ssim);
}

Owned<GstBuffer> clean_frame(const Clip& clip, std::size_t index) {
  Owned<GstBuffer> buffer(gst_buffer_copy_deep(clip.frames[index].get()));
  GstMapInfo map;
  gst_buffer_map(buffer.get(), &map, GST_MAP_WRITE);
  const auto& levels = clip.clean[index];
  const auto w = static_cast<std::size_t>(clip.info.width);
  const auto stride = static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&clip.info, 0));
  for (std::size_t i = 0; i < levels.size(); ++i)
    map.data[i / w * stride + i % w] = static_cast<guint8>(std::clamp(levels[i] + 0.5f, 0.f, 255.f));
  gst_buffer_unmap(buffer.get(), &map);
  return buffer;
}

void write_picture(const Clip& clip, const std::vector<RunResult>& results, std::size_t index,
                   const std::string& folder) {
  Quality noisy(clip);
  noisy.add(index, clip.frames[index].get());
  std::vector<Tile> tiles;
  Owned<GstBuffer> clean;
  if (!clip.clean.empty()) {
    clean = clean_frame(clip, index);
    tiles.push_back({"clean", clean.get()});
  }
  tiles.push_back({caption("input", noisy.psnr(), noisy.ssim()), clip.frames[index].get()});
  for (const auto& r : results)
    if (r.kept) tiles.push_back({caption(r.filter, r.psnr, r.ssim), r.kept.get()});
  std::filesystem::create_directories(folder);
  const std::string path = (std::filesystem::path(folder) / "contact-sheet.png").string();
  write_sheet(clip, tiles, path);
  fmt::print("\nContact sheet: {}\n", path);
}

// Says whether a GPU is used, and why not: in the words of the library that the element asks too.
void print_backend(const std::string& choice) {
  BackendRequest request;
  for (int i = 0; i < static_cast<int>(std::size(backend_choices)); ++i)
    if (choice == backend_choices[i].nick) request.choice = static_cast<BackendChoice>(i);
  const SelectedBackend backend = select_backend(request);
  const ProcessorInfo info = backend.processor->info();
  const bool gpu = std::string_view(info.backend) == "cuda";
  fmt::print("{}: {}. {}\n", gpu ? "A GPU is used" : "No GPU is used", info.device, backend.reason);
}

void print_input_row(const Clip& clip) {
  Quality noisy(clip);
  for (std::size_t i = 0; i < clip.clean.size(); ++i) noisy.add(i, clip.frames[i].get());
  if (!clip.clean.empty())
    fmt::print("{:<11}{:>8}{:>8}{:>11}{:>11}{:>11}{:>10}{:>8}\n", "(input)", clip.frames.size(), "", "", "",
               "", number(noisy.psnr(), 2), number(noisy.ssim(), 3));
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  gst_init(nullptr, nullptr);
  print_backend(options.backend);
  const Clip clip = load_clip(options.clip);
  fmt::print("Input: {}, {} frames\n", clip.title, clip.frames.size());
  const auto settings = settings_for(options);
  if (!settings.empty()) fmt::print("Settings of videodenoise: {}\n", fmt::join(settings, " "));
  print_head();
  print_input_row(clip);
  const std::size_t index = clip.frames.size() / 2;
  std::vector<RunResult> results;
  bool all_there = true;
  for (const auto& filter : options.filters) {
    results.push_back(run_filter(clip, {filter, options.backend, settings, static_cast<int>(index)}));
    print_row(results.back());
    all_there = all_there && results.back().frames_in == results.back().frames_out;
  }
  fmt::print(
      "\nframes/s: appsrc ! videodenoise ! appsink as fast as it goes. p50, p99: from pushing a frame into "
      "that pipeline to\n"
      "having it back, one at a time. PSNR and SSIM: against the clean phantom. sigma: estimated noise in "
      "8-bit levels.\n");
  write_picture(clip, results, index, options.output);
  if (!all_there) fmt::print(stderr, "error: frames were lost\n");
  return all_there ? 0 : 1;
}

}  // namespace
}  // namespace quietframe::examples

int main(int argc, char** argv) {
  return quietframe::examples::run_main(quietframe::examples::run, argc, argv);
}
