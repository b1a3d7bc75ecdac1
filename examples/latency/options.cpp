// The latency program's command line.
#include "latency/options.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "filter.hpp"

namespace quietframe::examples {
namespace {

StreamRequest base_request(const Options& o, const std::string& video) {
  StreamRequest r;
  char format[32];
  if (std::sscanf(video.c_str(), "%dx%d:%31s", &r.width, &r.height, format) != 3 || r.width < 1 ||
      r.height < 1)
    throw PipelineError("--video is WIDTHxHEIGHT:FORMAT, such as 1920x1080:NV12, not " + video);
  r.format = format;
  r.rate = o.rate;
  r.seconds = o.seconds;
  r.phase = o.phase;
  r.sync = o.sync;
  r.offered_memory = !o.malloc_memory;
  return r;
}

// All rows of one video.
std::vector<Case> cases_of(const Options& o, const std::string& video) {
  std::vector<Case> all;
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
  return all;
}

}  // namespace

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
  app.add_option("--seconds", o.seconds, "Length of each measurement; Ctrl-C ends it earlier")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--warmup", o.warmup, "Seconds of frames before it")
      ->check(CLI::Range(0., 60.))
      ->capture_default_str();
  app.add_option("--instances", o.instances, "Pipelines at once in this process")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag(
      "--side-by-side", o.side_by_side,
      "Measure every part with all videos at once, their frames evenly spread over the interval so that "
      "they do not wait for each other; CPU, memory and threads are then of all of them");
  app.add_option("--phase", o.phase,
                 "Push frames at this part of the frame interval by the system's monotonic clock, so that "
                 "programs that run beside each other can take turns (default: whenever it begins)")
      ->check(CLI::Range(0., 1.));
  app.add_flag("--legs", o.legs, "A line for each element that a frame passes");
  app.add_flag("--sync", o.sync, "The sink waits for the clock and drops late frames, as a display does");
  app.add_flag("--system-memory", o.malloc_memory,
               "Feed frames from malloc's memory even where the part offers a pool");
  app.add_option("--csv", o.csv, "Write the table here");
  app.add_option("--samples", o.samples,
                 "Write every frame's latency here (examples/latency/histogram.py draws it)");
  app.add_option("--timeline", o.timeline,
                 "Write how percentiles, memory and threads change during each measurement here");
  app.add_option("--window", o.window, "Seconds of each line of the timeline")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (o.filters.empty())
    for (const auto& filter : all_filters()) o.filters.emplace_back(filter.name);
  return o;
}

std::vector<std::vector<Case>> cases(const Options& o) {
  std::vector<std::vector<Case>> groups;
  for (const auto& video : o.videos) {
    const auto all = cases_of(o, video);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (o.side_by_side && i < groups.size())
        groups[i].push_back(all[i]);
      else
        groups.push_back({all[i]});
  }
  if (o.side_by_side)
    for (auto& group : groups) {
      const double from = std::max(o.phase, 0.), step = (1 - from) / static_cast<double>(group.size());
      for (std::size_t i = 0; i < group.size(); ++i)
        group[i].request.phase = from + step * static_cast<double>(i);
    }
  return groups;
}

}  // namespace quietframe::examples
