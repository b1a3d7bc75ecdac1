// The commands of quietframe: each registers its flags, and runs once they are parsed.
#pragma once
#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "errors.hpp"

namespace quietframe::cli {

using Run = std::function<ExitCode()>;

/// Adds a command's flags to its app. What it returns does the work, and is called after parsing.
struct CommandInfo {
  const char* name;
  const char* blurb;    ///< one line
  const char* details;  ///< more for --help and the manual; "" if there is no more to say
  Run (*make)(CLI::App& app);
};

/// In the order of --help.
extern const std::vector<CommandInfo> all_commands;

Run make_denoise(CLI::App& app);
Run make_noise(CLI::App& app);
Run make_synth(CLI::App& app);
Run make_crop(CLI::App& app);
Run make_metrics(CLI::App& app);
Run make_compare(CLI::App& app);
Run make_tune(CLI::App& app);
Run make_bench(CLI::App& app);
Run make_devices(CLI::App& app);
Run make_filters(CLI::App& app);
Run make_formats(CLI::App& app);
Run make_completion(CLI::App& app);
Run make_manual(CLI::App& app);

/// The whole command line.
class CommandLine {
 public:
  CommandLine();
  CLI::App& app() { return app_; }
  /// Parses; throws CLI::ParseError (help counts as one).
  void parse(int argc, const char* const* argv) { app_.parse(argc, argv); }
  void parse(std::vector<std::string> reversed) { app_.parse(std::move(reversed)); }
  /// Runs the command that was named.
  ExitCode run();

 private:
  CLI::App app_;
  std::vector<std::pair<CLI::App*, Run>> commands_;
};

/// Parses, runs, and turns what is thrown into a line on the error output and an exit code.
ExitCode run_main(int argc, const char* const* argv);

}  // namespace quietframe::cli
