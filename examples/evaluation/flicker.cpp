// The flicker experiment, and the plain runs: slices to filtered slices, and a few frames for a profiler.
#include <fmt/format.h>
#include <fmt/os.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>

#include "cuda/device.hpp"
#include "evaluation/experiments.hpp"
#include "evaluation/programs.hpp"
#include "evaluation/progress.hpp"
#include "evaluation/slices.hpp"
#include "noise/models.hpp"
#include "options.hpp"
#include "phantom/phantom.hpp"
#include "thread_pool.hpp"

namespace quietframe::evaluation {
namespace {

double mean(const std::vector<float>& levels) {
  return std::accumulate(levels.begin(), levels.end(), 0.0) / static_cast<double>(levels.size());
}

/// Root mean square of what the filter took away.
double removed(const std::vector<float>& before, const std::vector<float>& after) {
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto d = static_cast<double>(before[i] - after[i]);
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(before.size()));
}

/// The frames of a clip, or of a still brain phantom with Rician noise of its own in each frame.
class Frames {
 public:
  Frames(const FlickerOptions& o, cli::Size size) : size_(size), count_(o.frames) {
    if (!o.slices.path.empty()) {
      clip_.emplace(o.slices.path, size.width, size.height);
      count_ = clip_->count();
      return;
    }
    still_.resize(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
    const PlanarGroup planes{1, {view(still_)}};
    make_phantom({PhantomKind::brain, 0.f}, size.width, size.height, 1)->render(0, &planes, nullptr, pool_);
  }
  int count() const { return count_; }

  std::vector<float> read(int i) {
    if (clip_) return clip_->read(i);
    auto noisy = still_;
    add_noise(as_const(view(still_)), view(noisy), {NoiseModel::rician, 12.f},
              {1, static_cast<std::uint32_t>(i), 0}, pool_);
    return noisy;
  }

 private:
  ImageView<float> view(std::vector<float>& levels) const {
    return {levels.data(), size_.width, size_.height, std::ptrdiff_t{size_.width} * 4};
  }

  cli::Size size_;
  int count_;
  std::optional<Slices> clip_;
  std::vector<float> still_;
  ThreadPool pool_;
};

Program one_program(const std::string& name) { return std::move(make_programs({name}).front()); }

}  // namespace

void run_flicker(const FlickerOptions& options, const FrameSettings& settings) {
  const auto size = cli::parse_size(options.slices.size);
  const FrameFormat format{PixelFormat::gray8, size.width, size.height, 0};
  Frames frames(options, size);
  HostFrame in(format), out(format);
  auto csv = fmt::output_file(options.output);
  csv.print("estimate,frame,sigma,mean_before,mean,removed\n");
  Progress progress("flicker", 2L * frames.count());
  for (const auto estimate : {NoiseEstimate::exact, NoiseEstimate::smoothed}) {
    auto program = one_program("cpu");
    program.processor->configure(format, 1);
    auto s = settings;
    s.common.noise_estimate = estimate;
    for (int i = 0; i < frames.count(); ++i, progress.step()) {
      in.store(frames.read(i));
      s.reset_history = i == 0;
      s.stream_time = static_cast<std::int64_t>(1e9 * i / options.frame_rate);
      const auto report = program.processor->wait(program.processor->submit(in.frame(), out.frame(), s));
      const auto before = in.levels(), after = out.levels();
      csv.print("{},{},{:.6f},{:.6f},{:.6f},{:.6f}\n",
                noise_estimate_choices[static_cast<std::size_t>(estimate)].nick, i, report.sigma[0][0],
                mean(before), mean(after), removed(before, after));
    }
  }
}

void run_denoise(const DenoiseOptions& options, const FrameSettings& settings) {
  const auto size = cli::parse_size(options.slices.size);
  const FrameFormat format{PixelFormat::gray_f32, size.width, size.height, 0};
  Slices slices(options.slices.path, size.width, size.height);
  HostFrame in(format), out(format);
  auto program = one_program(options.program);
  program.processor->configure(format, 1);
  std::ofstream file(options.output, std::ios::binary);
  for (int i = 0; i < slices.count(); ++i) {
    in.store(slices.read(i));
    program.processor->wait(program.processor->submit(in.frame(), out.frame(), program.with(settings)));
    const auto levels = out.levels();
    file.write(reinterpret_cast<const char*>(levels.data()),
               static_cast<std::streamsize>(levels.size() * sizeof(float)));
  }
  if (!file.flush()) throw Error(fmt::format("{} cannot be written", options.output));
}

void run_profile(const SliceOptions& options, const std::string& name, int frames,
                 const FrameSettings& settings) {
  const auto size = cli::parse_size(options.size);
  const FrameFormat format{PixelFormat::gray_f32, size.width, size.height, 0};
  Slices slices(options.path, size.width, size.height);
  HostFrame in(format), out(format);
  in.store(slices.read(0));
  auto program = one_program(name);
  program.processor->configure(format, 1);
  for (int i = 0; i < frames; ++i)
    program.processor->wait(program.processor->submit(in.frame(), out.frame(), program.with(settings)));
}

void write_machine(const std::string& output) {
  auto csv = fmt::output_file(output);
  const auto probe = cuda::probe();
  csv.print("key,value\ncpu threads,{}\n", ThreadPool().threads());
  if (probe.devices.empty()) {
    csv.print("gpu absent,\"{}\"\n", probe.why_none);
    return;
  }
  csv.print("gpu,{}\nmultiprocessors,{}\ndriver,{}\nruntime,{}\n", probe.devices[0].name,
            probe.devices[0].multiprocessors, probe.driver_version, probe.runtime_version);
}

}  // namespace quietframe::evaluation
