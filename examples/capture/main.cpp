// An application that embeds videodenoise: watch, tune and record a camera, a file or a clip while it is
// denoised.
#include <fmt/core.h>
#include <gst/gst.h>

#include <CLI/CLI.hpp>

#include "capture/app.hpp"
#include "common/run_main.hpp"

namespace quietframe::examples {
namespace {

int run(int argc, char** argv) {
  CaptureOptions o;
  CLI::App cli("Denoises a source while you watch, tune and record it.");
  cli.add_option(
      "source", o.source,
      "/dev/video0, a video file, a raw clip (with caps; looped), or test; none: a phantom, looped");
  cli.add_option("caps", o.caps, "Caps of a raw clip, or what to ask of a camera");
  cli.add_option("--filter", o.filter, "Filter to begin with")->capture_default_str();
  cli.add_option("--backend", o.backend, "auto, cuda or cpu")->capture_default_str();
  cli.add_option("--set", o.settings, "PROPERTY=VALUE of videodenoise; may be given again");
  cli.add_option("--record", o.record, "Record what comes out into this Matroska file");
  cli.add_option("--encoder", o.encoder,
                 "Elements that encode the recording (default: the first lossless one installed)");
  cli.add_flag("--headless", o.headless, "No window");
  cli.add_flag("--split", o.split, "Begin with the split view: input left, output right");
  cli.add_option("--seconds", o.seconds, "End after so long")->check(CLI::Range(0., 1e6));
  cli.add_option("--statistics", o.statistics_interval, "Seconds between lines of statistics; 0: none")
      ->capture_default_str();
  cli.footer(Controls::help());
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error);
  }
  gst_init(nullptr, nullptr);
  CaptureApp(o).run();
  return 0;
}

}  // namespace
}  // namespace quietframe::examples

int main(int argc, char** argv) {
  return quietframe::examples::run_main(quietframe::examples::run, argc, argv);
}
