// What the latency program was asked to measure.
#pragma once
#include <string>
#include <vector>

#include "latency/stream.hpp"

namespace quietframe::examples {

struct Options {
  std::vector<std::string> videos{"512x512:GRAY8", "1920x1080:NV12", "3840x2160:P010_10LE"};
  std::vector<std::string> filters, settings, against;
  std::vector<int> depths{4};
  std::string backend = "auto", csv, samples, timeline;
  double rate = 60, seconds = 10, warmup = 1, phase = -1, window = 10;
  int instances = 1;
  bool side_by_side = false, legs = false, sync = false, malloc_memory = false;
};

/// A row of the table.
struct Case {
  StreamRequest request;
  std::string video, label;
};

/// Exits where the command line says that nothing is to be measured.
Options parse(int argc, char** argv);
/// The rows in groups that are measured at once. Throws PipelineError.
std::vector<std::vector<Case>> cases(const Options& options);

}  // namespace quietframe::examples
