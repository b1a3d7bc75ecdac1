// The quality experiment: slices made worse in a known way, filtered, and compared with what they were.
#include <fmt/format.h>
#include <fmt/os.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "evaluation/experiments.hpp"
#include "evaluation/programs.hpp"
#include "evaluation/progress.hpp"
#include "evaluation/slices.hpp"
#include "noise/models.hpp"
#include "options.hpp"
#include "quality/metrics.hpp"
#include "thread_pool.hpp"

namespace quietframe::evaluation {
namespace {

using Clock = std::chrono::steady_clock;

struct Setting {
  std::string name;
  FrameSettings settings;
};

struct Degradation {
  std::string name;
  double sigma;  ///< levels; 0 for motion
};

struct Quality {
  double psnr, ssim, mse;
};

std::vector<Degradation> degradations_of(const QualityOptions& o) {
  std::vector<Degradation> all;
  for (const auto& name : o.degradations) {
    if (name != "gaussian" && name != "rician" && name != "motion")
      throw Error(fmt::format("there is no degradation {}; there are gaussian, rician and motion", name));
    if (name == "motion") all.push_back({name, 0});
    for (const double sigma : o.sigmas)
      if (name != "motion") all.push_back({name, sigma});
  }
  return all;
}

std::vector<Setting> settings_of(const std::string& vary, const FrameSettings& base) {
  if (vary.empty()) return {{"", base}};
  const auto equals = vary.find('=');
  const auto name = vary.substr(0, equals);
  const auto rows = base.filter->params;
  const auto row = std::ranges::find(rows, name, [](const ParamInfo& r) { return std::string(r.name); });
  if (row == rows.end() || equals == std::string::npos)
    throw Error(fmt::format("{} does not say what to vary; write it as alpha=0.6,0.8,1", vary));
  std::vector<Setting> all;
  for (std::size_t at = equals; at != std::string::npos;) {
    const auto next = vary.find(',', at + 1);
    const auto value = vary.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    all.push_back({name + "=" + value, base});
    row->set(all.back().settings.params.data(), cli::parse_value(*row, value));
    at = next;
  }
  return all;
}

class Experiment {
 public:
  Experiment(const QualityOptions& o, const FrameSettings& settings)
      : o_(o),
        size_(cli::parse_size(o.slices.size)),
        slices_(o.slices.path, size_.width, size_.height),
        count_(o.max_slices > 0 ? std::min(o.max_slices, slices_.count()) : slices_.count()),
        degradations_(degradations_of(o)),
        settings_(settings_of(o.vary, settings)),
        programs_(make_programs(o.programs)),
        format_{PixelFormat::gray_f32, size_.width, size_.height, 0},
        in_(format_),
        out_(format_),
        csv_(fmt::output_file(o.output)) {
    if (size_.width < ssim_window || size_.height < ssim_window)
      throw Error(fmt::format("SSIM needs slices of at least {0}x{0} pixels", ssim_window));
  }

  void run() {
    csv_.print(
        "slice,degradation,sigma,run,program,setting,psnr_before,ssim_before,mse_before,psnr,ssim,mse,"
        "sigma_estimate,total_us,upload_us,kernels_us,download_us,max_difference\n");
    for (auto& program : programs_) {
      program.processor->configure(format_, 1);
      program.processor->set_timing(true);
      in_.store(slices_.read(0));
      for (const auto& s : settings_)  // the first frame of a setting also allocates
        program.processor->wait(
            program.processor->submit(in_.frame(), out_.frame(), program.with(s.settings)));
    }
    Progress progress("quality", long{count_} * o_.runs * static_cast<long>(degradations_.size()));
    for (int slice = 0; slice < count_; ++slice) {
      const auto clean = slices_.read(slice);
      for (const auto& d : degradations_)
        for (int r = 0; r < o_.runs; ++r, progress.step()) measure(slice, clean, d, r);
    }
  }

 private:
  ImageView<const float> view(const std::vector<float>& levels) const {
    return {levels.data(), size_.width, size_.height, std::ptrdiff_t{size_.width} * 4};
  }

  // A realisation of its own for each slice, degradation and run; the same for all programs and settings.
  std::vector<float> degrade(int slice, const std::vector<float>& clean, const Degradation& d, int run) {
    std::vector<float> result(clean.size());
    const ImageView<float> to{result.data(), size_.width, size_.height, std::ptrdiff_t{size_.width} * 4};
    const auto seed = static_cast<std::uint64_t>(run) + 1;
    if (d.name == "motion") {
      move_rigidly(view(clean), to,
                   random_motion(o_.shift, o_.degrees, seed, static_cast<std::uint32_t>(slice)), pool_);
    } else {
      const NoiseParams noise{d.name == "rician" ? NoiseModel::rician : NoiseModel::gaussian,
                              static_cast<float>(d.sigma)};
      const NoiseStream stream{1000 * seed + static_cast<std::uint64_t>(std::lround(d.sigma)),
                               static_cast<std::uint32_t>(slice), 0};
      add_noise(view(clean), to, noise, stream, pool_);
    }
    if (o_.clip)
      for (auto& v : result) v = std::round(std::clamp(v, 0.f, 255.f));
    return result;
  }

  Quality quality(const std::vector<float>& levels, const std::vector<float>& clean) {
    const double error = mse(view(levels), view(clean), pool_);
    return {psnr(error, 255), ssim(view(levels), view(clean), 255, pool_), error};
  }

  void measure(int slice, const std::vector<float>& clean, const Degradation& d, int run) {
    const auto degraded = degrade(slice, clean, d, run);
    const auto before = quality(degraded, clean);
    for (const auto& s : settings_) {
      std::vector<float> first;
      for (auto& program : programs_) {
        in_.store(degraded);
        const auto start = Clock::now();
        const auto report = program.processor->wait(
            program.processor->submit(in_.frame(), out_.frame(), program.with(s.settings)));
        const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
        const auto levels = out_.levels();
        if (first.empty()) first = levels;
        float difference = 0;
        for (std::size_t i = 0; i < levels.size(); ++i)
          difference = std::max(difference, std::abs(levels[i] - first[i]));
        const auto after = quality(levels, clean);
        csv_.print(
            "{},{},{},{},{},{},{:.4f},{:.5f},{:.4f},{:.4f},{:.5f},{:.4f},{:.4f},{:.2f},{:.2f},{:.2f},{:.2f},{"
            ":.3g}\n",
            slice, d.name, d.sigma, run, program.name, s.name, before.psnr, before.ssim, before.mse,
            after.psnr, after.ssim, after.mse, report.sigma[0][0], us, report.upload_us, report.kernel_us,
            report.download_us, difference);
      }
    }
  }

  const QualityOptions& o_;
  cli::Size size_;
  Slices slices_;
  int count_;
  std::vector<Degradation> degradations_;
  std::vector<Setting> settings_;
  std::vector<Program> programs_;
  FrameFormat format_;
  HostFrame in_, out_;
  fmt::ostream csv_;
  ThreadPool pool_;
};

}  // namespace

void run_quality(const QualityOptions& options, const FrameSettings& settings) {
  Experiment(options, settings).run();
}

}  // namespace quietframe::evaluation
