// Builds the streams of a group, waits, and adds up.
#include "latency/measure.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

namespace quietframe::examples {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double seconds_between_lines = 30;  // of progress, where stderr is no terminal

std::atomic<bool> stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// Ends the measurement rather than the process, while it lives.
class StopOnSignal {
 public:
  StopOnSignal() : interrupt_(std::signal(SIGINT, stop)), terminate_(std::signal(SIGTERM, stop)) {}
  ~StopOnSignal() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGTERM, terminate_);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  using Handler = void (*)(int);
  static void stop(int) { stopped = true; }
  const Handler interrupt_, terminate_;
};

struct Row {
  std::vector<std::unique_ptr<Stream>> streams;  // none once it has failed
  Outcome outcome;

  // Does `what` to every stream.
  template <class F>
  void each(F&& what) {
    try {
      for (auto& stream : streams) what(*stream);
    } catch (const std::exception& error) {
      outcome.error = error.what();
      streams.clear();
    }
  }
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void merge(StreamResult& sum, StreamResult&& more) {
  if (sum.legs.empty()) {
    sum = std::move(more);
    return;
  }
  const auto add = [](Times& to, const Times& from) {
    for (const double us : from.all()) to.add(us);
  };
  add(sum.whole, more.whole);
  for (std::size_t i = 0; i < sum.legs.size() && i < more.legs.size(); ++i)
    add(sum.legs[i].times, more.legs[i].times);
  sum.windows.resize(std::max(sum.windows.size(), more.windows.size()));
  for (std::size_t i = 0; i < more.windows.size(); ++i) {
    add(sum.windows[i].times, more.windows[i].times);
    sum.windows[i].pushed += more.windows[i].pushed;
  }
  sum.pushed += more.pushed;
  sum.arrived += more.arrived;
}

// A line of progress: rewritten on a terminal, else a new one from time to time.
class Progress {
 public:
  explicit Progress(std::string head) : head_(std::move(head)) {}
  ~Progress() {
    if (terminal_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double passed, double all, std::uint64_t frames) {
    if (!terminal_ && passed < next_) return;
    next_ = passed + seconds_between_lines;
    fmt::print(stderr, "{}{}: {:.0f} of {:.0f} s, {} frames{}", terminal_ ? "\r\x1b[K" : "", head_, passed,
               all, frames, terminal_ ? "" : "\n");
  }

 private:
  const std::string head_;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  double next_ = seconds_between_lines;
};

// Until the time is over, a signal comes, or nothing is left to wait for.
void wait(std::vector<Row>& rows, const Options& options, const std::string& head, GroupOutcome& outcome) {
  Progress progress(head);
  const auto start = Clock::now();
  for (;;) {
    const double passed = outcome.seconds = seconds_since(start);
    const double window_ends = options.window * static_cast<double>(outcome.uses.size());
    if (passed >= std::min(window_ends, options.seconds)) outcome.uses.push_back(process_use());
    if (passed >= options.seconds) return;
    std::uint64_t frames = 0;
    bool any = false;
    for (auto& row : rows)
      row.each([&](const Stream& stream) {
        stream.check();
        frames += stream.arrived();
        any = true;
      });
    if (stopped || !any) break;
    progress.show(passed, options.seconds, frames);
    sleep(std::min({0.5, options.seconds - passed, std::max(window_ends - passed, 0.001)}));
  }
  outcome.uses.push_back(process_use());
}

}  // namespace

bool interrupted() { return stopped; }

GroupOutcome measure(const std::vector<Case>& group, const Options& options, const std::string& progress) {
  const StopOnSignal stop_on_signal;
  GroupOutcome outcome;
  std::vector<Row> rows(group.size());
  for (std::size_t r = 0; r < group.size(); ++r) try {
      for (int i = 0; i < options.instances && !stopped; ++i)
        rows[r].streams.push_back(std::make_unique<Stream>(group[r].request));
    } catch (const std::exception& error) {
      rows[r].outcome.error = error.what();
      rows[r].streams.clear();
    }
  if (!stopped) sleep(options.warmup);
  outcome.uses.push_back(process_use());
  for (auto& row : rows) row.each([](Stream& stream) { stream.start(); });
  wait(rows, options, progress, outcome);
  const double window = options.timeline.empty() ? 0 : options.window;
  for (auto& row : rows) {
    row.each([&](Stream& stream) { merge(row.outcome.result, stream.finish(window)); });
    row.streams.clear();
    outcome.rows.push_back(std::move(row.outcome));
  }
  return outcome;
}

}  // namespace quietframe::examples
