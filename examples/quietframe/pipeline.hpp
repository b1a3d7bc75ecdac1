// Many pictures through one processor: decoding, filtering and encoding of different pictures overlap.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files.hpp"
#include "options.hpp"
#include "processor.hpp"

namespace quietframe::cli {

/// What became of one picture.
struct PictureResult {
  std::filesystem::path in, out;
  std::string error;  ///< empty: it was written
  int width = 0, height = 0;
  FrameReport report;
  double decode_ms = 0, filter_ms = 0, encode_ms = 0;  ///< filter: from submission to completion
};

struct PipelineOptions {
  int in_flight = 4;   ///< pictures in the processor at a time, 1..16
  int io_threads = 0;  ///< that decode, and as many that encode; 0: half of the CPUs each
  DepthOption depth;
};

struct PipelineTotals {
  int done = 0, failed = 0;
  double wall_ms = 0;
  double kernel_ms = 0, copy_ms = 0;  ///< sums over the pictures; copies to and from the GPU
};

/// Makes a processor; called for each format of pictures that comes up.
using ProcessorSource = std::function<std::unique_ptr<Processor>()>;

/// Filters each picture of `plan` and writes it. `on_done` is called once a picture, in the order of the
/// plan, from the calling thread. A picture that fails is reported and the rest goes on; only a backend that
/// fails throws.
PipelineTotals run_pipeline(const std::vector<InOut>& plan, const ProcessorSource& source,
                            const FrameSettings& settings, const PipelineOptions& options,
                            const std::function<void(const PictureResult&)>& on_done);

/// One picture through the processor.
Picture filter_picture(const Picture& picture, Processor& processor, const FrameSettings& settings,
                       FrameReport* report = nullptr);

}  // namespace quietframe::cli
