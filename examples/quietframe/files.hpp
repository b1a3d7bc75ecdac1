// Names of files: inputs, where outputs go, and errors that say which file.
#pragma once
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "errors.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli {

namespace fs = std::filesystem;

/// The input and --output of most commands.
struct InputOutput {
  std::string input, output;

  void add_to(CLI::App& app, const std::string& input_blurb, const std::string& output_blurb);
  /// --output, or NAME + suffix beside the input, in a format that can be written.
  fs::path output_or(const std::string& suffix) const;
};

/// read_picture and write_picture whose errors begin with the file's name.
Picture named_read(const fs::path& path);
void named_write(const fs::path& path, const Picture& picture);
/// Runs `f` and puts the name before what a FileError says.
void with_name(const fs::path& path, const std::function<void()>& f);

/// Whether this is a clip: Y4M by its name.
bool is_clip(const fs::path& path);

struct InOut {
  fs::path in, out;
};
/// The pictures of a folder in the order of their names, and where their results go. Nothing inside `output`
/// is taken; two results never have one name. Throws FileError where there is no picture.
std::vector<InOut> plan_folder(const fs::path& folder, const fs::path& output);

}  // namespace quietframe::cli
