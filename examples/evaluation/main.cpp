// The measuring half of the evaluation: experiments on slices, one CSV file each. evaluate.py prepares the
// slices, runs it, and makes tables and figures of what it writes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "common/run_main.hpp"
#include "evaluation/experiments.hpp"
#include "evaluation/programs.hpp"
#include "options.hpp"

namespace quietframe::evaluation {
namespace {

void add_slices(CLI::App& app, SliceOptions& o, bool required = true) {
  app.add_option("slices", o.path, "File of float32 slices in levels, 0..255, one after another")
      ->type_name("FILE")
      ->required(required);
  app.add_option("--size", o.size, "Width and height of a slice")->type_name("WxH")->capture_default_str();
}

void add_output(CLI::App& app, std::string& output) {
  app.add_option("-o,--output", output, "File to write")->type_name("FILE")->required();
}

void add_programs(CLI::App& app, std::vector<std::string>& programs) {
  app.add_option("--programs", programs, fmt::format("Of {}", fmt::join(program_names(), ", ")))
      ->delimiter(',')
      ->capture_default_str();
}

/// A subcommand with the flags of the wavelet filter.
CLI::App* add_command(CLI::App& app, const char* name, const char* blurb, cli::FilterOptions& filter,
                      const std::function<void(const FrameSettings&)>& run) {
  auto* command = app.add_subcommand(name, blurb);
  filter.add_to(*command);
  command->callback([&filter, run] {
    auto settings = filter.settings();
    settings.common.noise_estimate = NoiseEstimate::exact;  // slices are no sequence
    run(settings);
  });
  return command;
}

int run(int argc, char** argv) {
  CLI::App app("The experiments of the wavelet evaluation");
  app.require_subcommand(1);
  std::array<cli::FilterOptions, 5> filters;

  QualityOptions quality;
  quality.programs = {"cpu", "stages", "branches", "fused"};
  auto* command = add_command(app, "quality", "PSNR, SSIM and time of every slice and degradation",
                              filters[0], [&](const FrameSettings& s) { run_quality(quality, s); });
  add_slices(*command, quality.slices);
  add_output(*command, quality.output);
  add_programs(*command, quality.programs);
  command->add_option("--degradations", quality.degradations, "Of gaussian, rician, motion")->delimiter(',');
  command->add_option("--sigmas", quality.sigmas, "Noise, in levels")->delimiter(',');
  command->add_option("--shift", quality.shift, "Most motion each way, pixels")->capture_default_str();
  command->add_option("--degrees", quality.degrees, "Most motion about the centre")->capture_default_str();
  command->add_option("--vary", quality.vary, "A parameter of the filter and its values, basis=haar,db4");
  command->add_option("--runs", quality.runs, "Realisations of the noise")->capture_default_str();
  command->add_option("--max-slices", quality.max_slices, "Slices; 0: all")->capture_default_str();
  command->add_flag("--clip", quality.clip, "Round and clamp the degraded slice to 8 bits");

  TimingOptions timing;
  timing.programs = program_names();
  command = add_command(app, "timing", "Time from one image to the whole set", filters[1],
                        [&](const FrameSettings& s) { run_timing(timing, s); });
  add_slices(*command, timing.slices);
  add_output(*command, timing.output);
  add_programs(*command, timing.programs);
  command->add_option("--samples", timing.samples, "Of f32, u8")->delimiter(',');
  command->add_option("--counts", timing.counts, "Images")->delimiter(',');
  command->add_option("--whole", timing.whole, "Images of the whole set; 0: those of the file");
  command->add_option("--runs", timing.runs, "Repetitions")->capture_default_str();
  command->add_option("--in-flight", timing.in_flight, "Frames in flight, 2..16")->capture_default_str();
  command->add_option("--sigma", timing.sigma, "Gaussian noise added to the slices, levels")
      ->capture_default_str();
  command->add_option("--budget", timing.budget, "Leave out what takes longer than this many seconds")
      ->capture_default_str();

  FlickerOptions flicker;
  command = add_command(app, "flicker", "Sigma and mean level, exact against smoothed estimate", filters[2],
                        [&](const FrameSettings& s) { run_flicker(flicker, s); });
  add_slices(*command, flicker.slices, false);
  add_output(*command, flicker.output);
  command->add_option("--frame-rate", flicker.frame_rate, "Frames a second")->capture_default_str();
  command->add_option("--frames", flicker.frames, "Frames of the still phantom, shown where no file is given")
      ->capture_default_str();

  DenoiseOptions denoise;
  command = add_command(app, "denoise", "Slices to filtered slices", filters[3],
                        [&](const FrameSettings& s) { run_denoise(denoise, s); });
  add_slices(*command, denoise.slices);
  add_output(*command, denoise.output);
  command->add_option("--program", denoise.program, "Which program filters")->capture_default_str();

  SliceOptions profiled;
  std::string program = "fused";
  int frames = 3;
  command = add_command(app, "profile", "A few frames, for a profiler to look at", filters[4],
                        [&](const FrameSettings& s) { run_profile(profiled, program, frames, s); });
  add_slices(*command, profiled);
  command->add_option("--program", program, "Which program")->capture_default_str();
  command->add_option("--frames", frames, "Frames")->capture_default_str();

  std::string machine;
  command = app.add_subcommand("machine", "What can run here, as CSV");
  add_output(*command, machine);
  command->callback([&] { write_machine(machine); });

  CLI11_PARSE(app, argc, argv);
  return 0;
}

}  // namespace
}  // namespace quietframe::evaluation

int main(int argc, char** argv) {
  return quietframe::examples::run_main(quietframe::evaluation::run, argc, argv);
}
