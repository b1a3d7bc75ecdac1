// Processors for the programs that are compared.
#include "evaluation/programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cuda/device.hpp"

namespace quietframe::evaluation {
namespace {

const std::vector<std::string> cpu_names = {"cpu", "cpu-1"};

// The wavelet filter's row that chooses among the schedules.
const ParamInfo& schedule_row() {
  return *std::ranges::find(find_filter("wavelet")->params, std::string("schedule"),
                            [](const ParamInfo& row) { return std::string(row.name); });
}

int schedule_of(const std::string& name) {
  const auto choices = schedule_row().choices;
  const auto it = std::ranges::find(choices, name, [](const Choice& c) { return std::string(c.nick); });
  return static_cast<int>(it - choices.begin());
}

}  // namespace

std::vector<std::string> program_names() {
  auto names = cpu_names;
  for (const auto* name : {"stages", "branches", "fused", "copy"}) names.emplace_back(name);
  return names;
}

FrameSettings Program::with(FrameSettings settings) const {
  if (name == "copy")
    settings.filter = nullptr;
  else if (cuda)
    schedule_row().set(settings.params.data(), schedule_of(name));
  return settings;
}

std::vector<Program> make_programs(const std::vector<std::string>& names) {
  std::vector<Program> programs;
  const auto known = program_names();
  const auto probe = cuda::probe();
  for (const auto& name : names) {
    if (std::ranges::find(known, name) == known.end())
      throw Error(fmt::format("there is no program {}; there are {}", name, fmt::join(known, ", ")));
    if (std::ranges::find(cpu_names, name) != cpu_names.end())
      programs.push_back({name, make_cpu_processor(name == "cpu" ? 0 : 1), false});
    else if (probe.devices.empty())
      fmt::print(stderr, "{} is left out: {}\n", name, probe.why_none);
    else
      programs.push_back({name, cuda::make_processor(-1), true});
  }
  if (programs.empty()) throw Error(fmt::format("none of {} can run here", fmt::join(names, ", ")));
  return programs;
}

}  // namespace quietframe::evaluation
