// The table of commands, and the one place where failures become exit codes.
#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "command.hpp"

namespace quietframe::cli {

const std::vector<CommandInfo> all_commands = {
    {"denoise", "Filter a picture, a folder of pictures or a clip",
     "The result of NAME.png is NAME_output.png beside it, that of a folder FOLDER is in FOLDER/output; "
     "--output says "
     "otherwise, and folders it names are made. Clips are Y4M, or raw frames with --raw. Flags of filters "
     "are called as "
     "the properties of the GStreamer element videodenoise, and mean the same.",
     make_denoise},
    {"noise", "Add noise or movement to a picture or clip",
     "The same seed gives the same bytes on every machine.", make_noise},
    {"synth", "Make test pictures and moving sequences",
     "Frames are pure functions of their number and the seed.", make_synth},
    {"crop", "Cut a rectangle out of a picture", "", make_crop},
    {"metrics", "Measure a picture, against a reference or by regions",
     "PSNR and SSIM are those of scikit-image's peak_signal_noise_ratio and structural_similarity with their "
     "defaults: "
     "7x7 uniform windows, sample covariance, data range of the format, mean over the channels.",
     make_metrics},
    {"compare", "Put two pictures side by side, and show their difference", "", make_compare},
    {"tune", "Search for the parameters of a filter that give the best PSNR", "", make_tune},
    {"bench", "Time filters over sizes, parameters and backends", "", make_bench},
    {"devices", "List the CUDA devices, or say why there is none", "", make_devices},
    {"filters", "List the filters and their parameters", "", make_filters},
    {"formats", "List the file formats that this build reads and writes", "", make_formats},
    {"completion", "Print a completion script for bash", "To use it: source <(quietframe completion)",
     make_completion},
    {"manual", "Print the manual page", "To read it: quietframe manual | man -l -", make_manual},
};

CommandLine::CommandLine() : app_("Real-time video denoising, tried on files", "quietframe") {
  std::string codes = "Exit codes:\n";
  for (const auto& c : exit_codes) codes += fmt::format("  {}  {}\n", static_cast<int>(c.code), c.meaning);
  app_.footer(codes + "\nquietframe COMMAND --help explains a command.");
  app_.set_version_flag("--version", std::string("quietframe ") + QF_VERSION, "Print the version and leave");
  app_.require_subcommand(1);
  app_.get_formatter()->column_width(38);
  for (const auto& c : all_commands) {
    auto* sub = app_.add_subcommand(c.name, c.blurb);
    sub->footer(c.details);
    commands_.emplace_back(sub, c.make(*sub));
  }
}

ExitCode CommandLine::run() {
  for (const auto& [app, run] : commands_)
    if (app->parsed()) return run();
  return ExitCode::usage;
}

namespace {

ExitCode complain(ExitCode code, const std::string& text) {
  fmt::print(stderr, "quietframe: {}\n", text);
  return code;
}

// What CLI11 found: help and version are printed and are success.
ExitCode report_parse(const CommandLine&, CLI::App& app, const CLI::ParseError& e) {
  if (e.get_exit_code() == 0) {
    app.exit(e);
    return ExitCode::ok;
  }
  std::string command;
  for (const auto* sub : app.get_subcommands()) command += " " + sub->get_name();
  return complain(ExitCode::usage, fmt::format("{}. quietframe{} --help explains", e.what(), command));
}

}  // namespace

ExitCode run_main(int argc, const char* const* argv) {
  try {
    CommandLine line;
    try {
      line.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return report_parse(line, line.app(), e);
    }
    return line.run();
  } catch (const UsageError& e) {
    return complain(ExitCode::usage, e.what());
  } catch (const FileError& e) {
    return complain(ExitCode::file, e.what());
  } catch (const Error& e) {
    return complain(ExitCode::backend, e.what());
  } catch (const std::bad_alloc&) {
    return complain(ExitCode::internal, "memory ran out; try smaller pictures or a smaller --in-flight");
  } catch (const std::exception& e) {
    return complain(ExitCode::internal, e.what());
  }
}

}  // namespace quietframe::cli
