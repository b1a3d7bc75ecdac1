// Where outputs go.
#include "files.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace quietframe::cli {

void InputOutput::add_to(CLI::App& app, const std::string& input_blurb, const std::string& output_blurb) {
  app.add_option("input,-i,--input", input, input_blurb)->type_name("FILE")->required();
  app.add_option("-o,--output", output, output_blurb)->type_name("FILE");
}

fs::path InputOutput::output_or(const std::string& suffix) const {
  if (!output.empty()) return output;
  const fs::path path(input);
  const auto extension = is_clip(path) ? path.extension().string() : output_extension(path);
  return without_extension(path) += suffix + extension;
}

void with_name(const fs::path& path, const std::function<void()>& f) {
  try {
    f();
  } catch (const FileError& e) {
    throw FileError(path.string() + " " + e.what());
  }
}

Picture named_read(const fs::path& path) {
  Picture p;
  with_name(path, [&] { p = read_picture(path); });
  return p;
}

void named_write(const fs::path& path, const Picture& picture) {
  with_name(path, [&] { write_picture(path, picture); });
}

bool is_clip(const fs::path& path) { return path.extension() == ".y4m" || path.extension() == ".Y4M"; }

std::vector<InOut> plan_folder(const fs::path& folder, const fs::path& output) {
  std::vector<InOut> plan;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file() && looks_like_picture(entry.path())) plan.push_back({entry.path(), {}});
  if (error) throw FileError(fmt::format("{} cannot be read: {}", folder.string(), error.message()));
  if (plan.empty())
    throw FileError(
        fmt::format("{} holds no pictures; see quietframe formats for what is looked for", folder.string()));
  std::ranges::sort(plan, {}, [](const InOut& f) { return f.in; });
  std::set<fs::path> taken;
  for (const auto& f : plan) taken.insert(f.in.filename());
  for (auto& f : plan) {
    const auto extension = output_extension(f.in);
    auto name = f.in.filename();
    if (extension != f.in.extension()) {
      name = without_extension(name) += extension;
      if (taken.contains(name)) name = f.in.filename().string() + extension;
      taken.insert(name);
    }
    f.out = output / name;
  }
  return plan;
}

}  // namespace quietframe::cli
