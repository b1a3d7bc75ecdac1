// Measures what videodenoise, or any other elements, add to a live pipeline: latency frame by frame, drops,
// CPU time.
#include <fmt/core.h>
#include <gst/gst.h>

#include <fstream>

#include "common/run_main.hpp"
#include "latency/measure.hpp"

namespace quietframe::examples {
namespace {

double cpu_percent(const GroupOutcome& o) {
  return 100 * (o.after().cpu_seconds - o.before().cpu_seconds) / o.seconds;
}

double memory_growth(const GroupOutcome& o) { return o.after().resident_mib - o.before().resident_mib; }

std::string row(const std::string& name, const Times& times) {
  std::string text = fmt::format("{:<34}", name);
  for (const double percent : {50., 90., 99., 99.9, 100.})
    text += fmt::format("{:>10.0f}", times.percentile(percent));
  return text;
}

void print(const Case& c, const Outcome& o, const GroupOutcome& group, bool legs) {
  const std::string name = c.video + " " + c.label;
  if (!o.error.empty()) {
    fmt::print("{:<34} failed: {}\n", name, o.error);
    return;
  }
  const StreamResult& r = o.result;
  fmt::print("{}{:>9}{:>7}{:>9.1f}{:>8.1f}{:>9.1f}{:>9}  {}\n", row(name, r.whole), r.arrived,
             r.pushed - r.arrived, static_cast<double>(r.arrived) / r.seconds, cpu_percent(group),
             memory_growth(group), group.after().threads,
             r.backend.empty() ? "" : r.backend + ", " + r.memory);
  if (legs)
    for (const auto& leg : r.legs) fmt::print("{}\n", row("    to " + leg.name, leg.times));
  std::fflush(stdout);
}

void write_csv(std::ofstream& csv, const Case& c, const Outcome& o, const GroupOutcome& group) {
  const StreamResult& r = o.result;
  const auto line = [&](const std::string& leg, const Times& t) {
    csv << fmt::format("{},\"{}\",{},{},{:.1f},{:.1f},{:.1f},{:.1f},{:.1f},{:.2f},{:.1f},{},{}\n", c.video,
                       c.label, leg, r.pushed, t.percentile(50), t.percentile(90), t.percentile(99),
                       t.percentile(99.9), t.max(), cpu_percent(group), memory_growth(group),
                       r.pushed - r.arrived, r.memory);
  };
  line("whole", r.whole);
  for (const auto& leg : r.legs) line(leg.name, leg.times);
  csv.flush();
}

void write_timeline(std::ofstream& file, const Case& c, const Outcome& o, const GroupOutcome& group,
                    double window) {
  const auto& windows = o.result.windows;
  for (std::size_t i = 0; i < windows.size() && i + 1 < group.uses.size(); ++i) {
    const Times& t = windows[i].times;
    file << fmt::format("{},\"{}\",{:.1f},{},{},{:.1f},{:.1f},{:.1f},{:.2f},{}\n", c.video, c.label,
                        window * static_cast<double>(i), windows[i].pushed, windows[i].pushed - t.count(),
                        t.percentile(50), t.percentile(99), t.max(), group.uses[i + 1].resident_mib,
                        group.uses[i + 1].threads);
  }
  file.flush();
}

std::ofstream open_file(const std::string& path, const char* head) {
  std::ofstream file;
  if (path.empty()) return file;
  file.open(path);
  if (!file) throw PipelineError("cannot write " + path);
  file << head;
  return file;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  gst_init(nullptr, nullptr);
  std::ofstream csv = open_file(options.csv,
                                "video,part,leg,frames,p50_us,p90_us,p99_us,p999_us,max_us,cpu_percent,"
                                "memory_growth_mib,drops,memory\n");
  std::ofstream samples = open_file(options.samples, "case,us\n");
  std::ofstream timeline = open_file(
      options.timeline, "video,part,second,frames,drops,p50_us,p99_us,max_us,resident_mib,threads\n");
  const auto groups = cases(options);
  fmt::print("{:<34}{:>10}{:>10}{:>10}{:>10}{:>10}{:>9}{:>7}{:>9}{:>8}{:>9}{:>9}\n", "latency, microseconds",
             "p50", "p90", "p99", "p99.9", "max", "frames", "drops", "fps", "CPU %", "+MiB", "threads");
  std::fflush(stdout);
  bool good = true;
  for (std::size_t g = 0; g < groups.size() && !interrupted(); ++g) {
    const auto& group = groups[g];
    const std::string what =
        group.size() == 1 ? group[0].video : fmt::format("{} videos side by side,", group.size());
    const GroupOutcome outcome =
        measure(group, options, fmt::format("[{}/{}] {} {}", g + 1, groups.size(), what, group[0].label));
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Outcome& o = outcome.rows[i];
      print(group[i], o, outcome, options.legs);
      good = good && o.error.empty();
      if (!o.error.empty()) continue;
      if (csv.is_open()) write_csv(csv, group[i], o, outcome);
      if (timeline.is_open()) write_timeline(timeline, group[i], o, outcome, options.window);
      for (const double us : o.result.whole.all())
        if (samples.is_open()) samples << fmt::format("{} {},{:.1f}\n", group[i].video, group[i].label, us);
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace quietframe::examples

int main(int argc, char** argv) {
  return quietframe::examples::run_main(quietframe::examples::run, argc, argv);
}
