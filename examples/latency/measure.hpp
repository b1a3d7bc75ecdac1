// Measures a group of rows of the table at once.
#pragma once
#include "latency/options.hpp"
#include "latency/process_use.hpp"

namespace quietframe::examples {

struct Outcome {
  std::string error;  ///< empty: the row was measured
  StreamResult result;
};

struct GroupOutcome {
  std::vector<Outcome> rows;     ///< in the group's order
  std::vector<ProcessUse> uses;  ///< at the start, then at the end of each window, the last one at the end
  const ProcessUse& before() const { return uses.front(); }
  const ProcessUse& after() const { return uses.back(); }
  double seconds = 0;  ///< that were measured
};

/// `progress` stands before the line of progress on stderr. A row that cannot be built or that fails has an
/// error, and the others go on. SIGINT and SIGTERM end the measurement: `interrupted` says so afterwards.
GroupOutcome measure(const std::vector<Case>& group, const Options& options, const std::string& progress);
bool interrupted();

}  // namespace quietframe::examples
