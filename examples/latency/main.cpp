// Measures what videodenoise, or any other elements, add to a live pipeline: latency frame by frame, drops,
// CPU time.
#include <fmt/core.h>
#include <gst/gst.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>

#include "common/run_main.hpp"
#include "filter.hpp"
#include "latency/process_use.hpp"
#include "latency/stream.hpp"

namespace quietframe::examples {
namespace {

struct Options {
  std::vector<std::string> videos{"512x512:GRAY8", "1920x1080:NV12", "3840x2160:P010_10LE"};
  std::vector<std::string> filters, settings, against;
  std::vector<int> depths{4};
  std::string backend = "auto", csv, samples;
  double rate = 60, seconds = 10, warmup = 1;
  int instances = 1;
  bool legs = false, sync = false, malloc_memory = false;
};

struct Case {
  StreamRequest request;
  std::string video, label;
};

struct Outcome {
  std::string error;
  StreamResult result;
  ProcessUse before, after;
  double cpu_percent = 0;
};

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app("Latency through a live pipeline: source ! PART ! sink, fed at a frame rate.");
  app.add_option("--video", o.videos, "WIDTHxHEIGHT:FORMAT; several may be given")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--filter", o.filters, "Filters of videodenoise (default: all)")->delimiter(',');
  app.add_option("--async-depth", o.depths, "Values of async-depth")->delimiter(',')->capture_default_str();
  app.add_option("--backend", o.backend, "Backend of videodenoise")->capture_default_str();
  app.add_option("--set", o.settings, "PROPERTY=VALUE of videodenoise; may be given again");
  app.add_option("--against", o.against,
                 "Elements to measure too, e.g. \"cudaupload ! cudaconvert ! cudadownload\" or identity");
  app.add_option("--rate", o.rate, "Frames per second; 0: as fast as it goes")
      ->check(CLI::Range(0., 100000.))
      ->capture_default_str();
  app.add_option("--seconds", o.seconds, "Length of each measurement")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--warmup", o.warmup, "Seconds of frames before it")
      ->check(CLI::Range(0., 1000.))
      ->capture_default_str();
  app.add_option("--instances", o.instances, "Pipelines at once in this process")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag("--legs", o.legs, "A line for each element that a frame passes");
  app.add_flag("--sync", o.sync, "The sink waits for the clock and drops late frames, as a display does");
  app.add_flag("--system-memory", o.malloc_memory,
               "Feed frames from malloc's memory even where the part offers a pool");
  app.add_option("--csv", o.csv, "Write the table here");
  app.add_option("--samples", o.samples,
                 "Write every frame's latency here (examples/latency/histogram.py draws it)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (o.filters.empty())
    for (const auto& filter : all_filters()) o.filters.emplace_back(filter.name);
  return o;
}

StreamRequest base_request(const Options& o, const std::string& video) {
  StreamRequest r;
  char format[32];
  if (std::sscanf(video.c_str(), "%dx%d:%31s", &r.width, &r.height, format) != 3 || r.width < 1 ||
      r.height < 1)
    throw PipelineError("--video is WIDTHxHEIGHT:FORMAT, such as 1920x1080:NV12, not " + video);
  r.format = format;
  r.rate = o.rate;
  r.seconds = o.seconds;
  r.warmup = o.warmup;
  r.sync = o.sync;
  r.offered_memory = !o.malloc_memory;
  return r;
}

std::vector<Case> cases(const Options& o) {
  std::vector<Case> all;
  for (const auto& video : o.videos) {
    const StreamRequest base = base_request(o, video);
    for (const auto& filter : o.filters)
      for (const int depth : o.depths) {
        Case c{base, video, o.depths.size() > 1 ? fmt::format("{} depth {}", filter, depth) : filter};
        c.request.part = fmt::format("videodenoise name=denoise filter={} backend={} async-depth={}", filter,
                                     o.backend, depth);
        for (const auto& setting : o.settings) c.request.part += " " + setting;
        all.push_back(std::move(c));
      }
    for (const auto& against : o.against) {
      all.push_back({base, video, against});
      all.back().request.part = against;
    }
  }
  return all;
}

void merge(StreamResult& sum, StreamResult&& more) {
  if (sum.legs.empty()) {
    sum = std::move(more);
    return;
  }
  for (const double us : more.whole.all()) sum.whole.add(us);
  for (std::size_t i = 0; i < sum.legs.size() && i < more.legs.size(); ++i)
    for (const double us : more.legs[i].times.all()) sum.legs[i].times.add(us);
  sum.pushed += more.pushed;
  sum.arrived += more.arrived;
}

// Waits out the measurement with a line of progress on a terminal.
void wait(const Case& c, const std::vector<std::unique_ptr<Stream>>& streams, std::size_t index,
          std::size_t count) {
  const auto start = std::chrono::steady_clock::now();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  for (;;) {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (passed >= c.request.seconds) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.5, c.request.seconds - passed)));
    std::uint64_t frames = 0;
    for (const auto& stream : streams) {
      stream->check();
      frames += stream->arrived();
    }
    if (terminal)
      fmt::print(stderr, "\r\x1b[K[{}/{}] {} {}: {:.0f} of {:.0f} s, {} frames", index + 1, count, c.video,
                 c.label, passed, c.request.seconds, frames);
  }
  if (terminal) fmt::print(stderr, "\r\x1b[K");
}

Outcome measure(const Case& c, int instances, std::size_t index, std::size_t count) {
  Outcome outcome;
  try {
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < instances; ++i) streams.push_back(std::make_unique<Stream>(c.request));
    outcome.before = process_use();
    for (auto& stream : streams) stream->start();
    wait(c, streams, index, count);
    outcome.after = process_use();
    for (auto& stream : streams) merge(outcome.result, stream->finish());
    outcome.cpu_percent = 100 * (outcome.after.cpu_seconds - outcome.before.cpu_seconds) / c.request.seconds;
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  return outcome;
}

std::string row(const std::string& name, const Times& times) {
  std::string text = fmt::format("{:<34}", name);
  for (const double percent : {50., 90., 99., 99.9, 100.})
    text += fmt::format("{:>10.0f}", times.percentile(percent));
  return text;
}

void print(const Case& c, const Outcome& o, bool legs) {
  const std::string name = c.video + " " + c.label;
  if (!o.error.empty()) {
    fmt::print("{:<34} failed: {}\n", name, o.error);
    return;
  }
  const StreamResult& r = o.result;
  fmt::print("{}{:>9}{:>7}{:>9.1f}{:>8.1f}{:>9.1f}{:>9}  {}\n", row(name, r.whole), r.arrived,
             r.pushed - r.arrived, static_cast<double>(r.arrived) / r.seconds, o.cpu_percent,
             o.after.resident_mib - o.before.resident_mib, o.after.threads,
             r.backend.empty() ? "" : r.backend + ", " + r.memory);
  if (legs)
    for (const auto& leg : r.legs) fmt::print("{}\n", row("    to " + leg.name, leg.times));
  std::fflush(stdout);
}

void write_csv(std::ofstream& csv, const Case& c, const Outcome& o) {
  const StreamResult& r = o.result;
  const auto line = [&](const std::string& leg, const Times& t) {
    csv << fmt::format("{},\"{}\",{},{},{:.1f},{:.1f},{:.1f},{:.1f},{:.1f},{:.2f},{:.1f},{},{}\n", c.video,
                       c.label, leg, r.pushed, t.percentile(50), t.percentile(90), t.percentile(99),
                       t.percentile(99.9), t.max(), o.cpu_percent,
                       o.after.resident_mib - o.before.resident_mib, r.pushed - r.arrived, r.memory);
  };
  if (!o.error.empty()) return;
  line("whole", r.whole);
  for (const auto& leg : r.legs) line(leg.name, leg.times);
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
  const auto all = cases(options);
  fmt::print("{:<34}{:>10}{:>10}{:>10}{:>10}{:>10}{:>9}{:>7}{:>9}{:>8}{:>9}{:>9}\n", "latency, microseconds",
             "p50", "p90", "p99", "p99.9", "max", "frames", "drops", "fps", "CPU %", "+MiB", "threads");
  bool good = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Outcome outcome = measure(all[i], options.instances, i, all.size());
    print(all[i], outcome, options.legs);
    if (csv.is_open()) write_csv(csv, all[i], outcome);
    if (samples.is_open())
      for (const double us : outcome.result.whole.all())
        samples << fmt::format("{} {},{:.1f}\n", all[i].video, all[i].label, us);
    good = good && outcome.error.empty();
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace quietframe::examples

int main(int argc, char** argv) {
  return quietframe::examples::run_main(quietframe::examples::run, argc, argv);
}
