// The timing experiment: from one image to the whole set, host memory to host memory.
#include <fmt/format.h>
#include <fmt/os.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "evaluation/experiments.hpp"
#include "evaluation/programs.hpp"
#include "evaluation/progress.hpp"
#include "evaluation/slices.hpp"
#include "noise/models.hpp"
#include "options.hpp"
#include "thread_pool.hpp"

namespace quietframe::evaluation {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_resident = 256;  ///< slices kept in memory; longer sets go round them again

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Median times of a frame by part, microseconds.
struct Parts {
  double upload, kernels, download;
};

class Experiment {
 public:
  Experiment(const TimingOptions& o, const FrameSettings& settings)
      : o_(o),
        settings_(settings),
        size_(cli::parse_size(o.slices.size)),
        slices_(o.slices.path, size_.width, size_.height),
        programs_(make_programs(o.programs)),
        csv_(fmt::output_file(o.output)) {
    const int whole = o.whole > 0 ? o.whole : slices_.count();
    for (const int n : o.counts)
      if (n < whole) counts_.push_back(n);
    counts_.push_back(whole);
  }

  void run() {
    csv_.print("program,samples,mode,images,run,total_ms,upload_us,kernels_us,download_us\n");
    Progress progress("timing", static_cast<long>(o_.samples.size() * programs_.size() * 2 * counts_.size()));
    for (const auto& samples : o_.samples) {
      if (samples != "f32" && samples != "u8")
        throw Error(fmt::format("there are no {} samples; there are f32 and u8", samples));
      fill(samples == "u8" ? PixelFormat::gray8 : PixelFormat::gray_f32);
      for (auto& program : programs_)
        for (const int slots : {1, o_.in_flight}) {
          program.processor->configure(in_[0].frame().format, slots);
          measure(program, samples, slots, progress);
        }
    }
  }

 private:
  void fill(PixelFormat format) {
    ThreadPool pool;
    in_.clear();
    out_.clear();
    for (int i = 0; i < std::min(slices_.count(), most_resident); ++i) {
      in_.emplace_back(FrameFormat{format, size_.width, size_.height, 0});
      // As acquired: without noise most differences are zero, which is another case for the exact median.
      auto levels = slices_.read(i);
      const ImageView<float> view{levels.data(), size_.width, size_.height, std::ptrdiff_t{size_.width} * 4};
      add_noise(as_const(view), view, {NoiseModel::gaussian, static_cast<float>(o_.sigma)},
                {1, static_cast<std::uint32_t>(i), 0}, pool);
      in_.back().store(levels);
    }
    for (int i = 0; i < o_.in_flight; ++i)
      out_.emplace_back(FrameFormat{format, size_.width, size_.height, 0});
  }

  // `n` images with at most `slots` in flight; returns milliseconds. Reports go to `each` where it is given.
  double pass(Program& program, int n, int slots, std::vector<FrameReport>* each = nullptr) {
    const auto settings = program.with(settings_);
    auto& processor = *program.processor;
    std::vector<std::uint64_t> flying(static_cast<std::size_t>(slots));
    auto wait = [&](int i) {
      const auto report = processor.wait(flying[static_cast<std::size_t>(i % slots)]);
      if (each) each->push_back(report);
    };
    const auto start = Clock::now();
    for (int i = 0; i < n; ++i) {
      if (i >= slots) wait(i - slots);
      const auto k = static_cast<std::size_t>(i);
      flying[k % flying.size()] =
          processor.submit(in_[k % in_.size()].frame(), out_[k % flying.size()].frame(), settings);
    }
    for (int i = std::max(0, n - slots); i < n; ++i) wait(i);
    return milliseconds_since(start);
  }

  Parts parts(Program& program, int slots) {
    std::vector<FrameReport> reports;
    program.processor->set_timing(true);
    pass(program, 4 * slots, slots);  // a graph with events is another graph
    pass(program, std::max(64, 4 * slots), slots, &reports);
    program.processor->set_timing(false);
    pass(program, 4 * slots, slots);
    auto median = [&](float FrameReport::*part) {
      std::ranges::nth_element(reports, reports.begin() + static_cast<std::ptrdiff_t>(reports.size() / 2), {},
                               part);
      return static_cast<double>(reports[reports.size() / 2].*part);
    };
    return {median(&FrameReport::upload_us), median(&FrameReport::kernel_us),
            median(&FrameReport::download_us)};
  }

  void measure(Program& program, const std::string& samples, int slots, Progress& progress) {
    const auto p = parts(program, slots);
    double per_image = pass(program, 2 * slots, slots) / (2 * slots);
    for (const int n : counts_) {
      progress.step();
      const auto fit = static_cast<int>(o_.budget * 1000 / (per_image * n));
      if (fit < o_.runs)
        fmt::print(stderr, "{} {} of {} images: {} of {} runs fit into {} s\n", program.name, samples, n, fit,
                   o_.runs, o_.budget);
      for (int r = 0; r < std::min(fit, o_.runs); ++r) {
        const double ms = pass(program, n, slots);
        per_image = ms / n;
        csv_.print("{},{},{},{},{},{:.4f},{:.2f},{:.2f},{:.2f}\n", program.name, samples,
                   slots == 1 ? "one" : "flight", n, r, ms, p.upload, p.kernels, p.download);
      }
    }
  }

  const TimingOptions& o_;
  const FrameSettings& settings_;
  cli::Size size_;
  Slices slices_;
  std::vector<HostFrame> in_, out_;  // before the processors, which end first
  std::vector<Program> programs_;
  std::vector<int> counts_;
  fmt::ostream csv_;
};

}  // namespace

void run_timing(const TimingOptions& options, const FrameSettings& settings) {
  if (options.in_flight < 2 || options.in_flight > 16)
    throw Error(fmt::format("{} frames in flight cannot be had; give 2 to 16", options.in_flight));
  Experiment(options, settings).run();
}

}  // namespace quietframe::evaluation
