// A progress bar on stderr: redrawn in place on a terminal, a line for each tenth elsewhere.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace quietframe::evaluation {

class Progress {
 public:
  /// `total` steps of about the same length.
  Progress(std::string label, long total)
      : label_(std::move(label)), total_(std::max(total, 1L)), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (terminal_ && shown_ >= 0) std::fputc('\n', stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(long steps = 1) {
    done_ = std::min(done_ + steps, total_);
    const auto percent = static_cast<int>(100 * done_ / total_);
    if (percent == shown_ || (!terminal_ && percent / 10 == shown_ / 10 && shown_ >= 0)) return;
    shown_ = percent;
    const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
    const double left = passed * static_cast<double>(total_ - done_) / static_cast<double>(done_);
    const std::string bar(static_cast<std::size_t>(percent) * bar_width / 100, '#');
    fmt::print(stderr, "{}{:<26} [{:<{}}] {:3} %, {:.0f} s left {}", terminal_ ? "\r" : "", label_, bar,
               bar_width, percent, left, terminal_ ? " " : "\n");
    std::fflush(stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t bar_width = 32;

  std::string label_;
  long total_, done_ = 0;
  bool terminal_;
  int shown_ = -1;
  Clock::time_point start_ = Clock::now();
};

}  // namespace quietframe::evaluation
