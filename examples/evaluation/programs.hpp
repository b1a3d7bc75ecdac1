// The programs that the experiments compare: the wavelet filter on the CPU and its schedules on CUDA.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "processor.hpp"

namespace quietframe::evaluation {

/// One program: a processor of its own, and what has to be set for it.
struct Program {
  std::string name;
  std::unique_ptr<Processor> processor;
  bool cuda = false;

  /// `settings` as this program runs them.
  FrameSettings with(FrameSettings settings) const;
};

/// Names: cpu (all threads), cpu-1 (one thread), and on CUDA stages, branches, fused, and copy (upload, copy
/// and download without a filter: the floor).
std::vector<std::string> program_names();

/// Those of `names` that can run here, in that order; says on stderr which cannot and why. Throws Error for a
/// name that there is not, and when none can run.
std::vector<Program> make_programs(const std::vector<std::string>& names);

}  // namespace quietframe::evaluation
