// Runs a filter's definition on a group, as the CPU backend does.
#include "fake_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "noise/smoothed.hpp"
#include "noise/smoothed_cuda.hpp"
#include "sample.hpp"
#include "simd/samples.hpp"
#include "thread_pool.hpp"

namespace quietframe::cuda {
namespace {

PlanarGroup levels_of(const GroupView& v, Scratch& scratch, std::size_t first) {
  PlanarGroup group;
  group.channels = v.channels;
  for (int c = 0; c < v.channels; ++c) {
    group.channel[c] = scratch.plane(first + static_cast<std::size_t>(c), v.width, v.height);
    for (int y = 0; y < v.height; ++y)
      simd::load_levels(v, v.channel[c] + y * v.stride[c], v.width, group.channel[c].row(y));
  }
  return group;
}

void store(const PlanarGroup& before, const PlanarGroup& filtered, const CudaJob& job) {
  const auto& v = job.out;
  for (int c = 0; c < v.channels; ++c)
    for (int y = 0; y < v.height; ++y) {
      float* f = filtered.channel[c].row(y);
      for (int x = 0; x < v.width; ++x) f[x] = mix(before.channel[c].row(y)[x], f[x], job.strength);
      simd::store_levels(v, f, v.width, v.channel[c] + y * v.stride[c]);
    }
  if (!job.in.carry) return;
  for (int y = 0; y < v.height; ++y)
    for (int x = 0; x < v.width; ++x)
      v.carry[y * v.stride[0] + std::ptrdiff_t{x} * v.step] =
          job.in.carry[y * job.in.stride[0] + std::ptrdiff_t{x} * job.in.step];
}

void run(const FilterInfo& filter, const CudaJob& job, const void* params) {
  static ThreadPool pool(1);
  Scratch planes, scratch;
  constexpr std::size_t channels = max_channels;
  const auto in = levels_of(job.in, planes, 0);
  const auto out = levels_of(job.in, planes, channels);
  std::vector<PlanarGroup> past;
  for (const auto& v : job.past) past.push_back(levels_of(v, planes, (2 + past.size()) * channels));
  auto sigma = job.sigma.fixed;
  if (job.sigma.device && (filter.noise_use(params) == NoiseUse::shared || sigma[0] >= 0))
    std::memcpy(sigma.data(), job.sigma.device, sizeof sigma);
  CpuJob cpu{in,
             out,
             past,
             sigma,
             pool,
             scratch,
             {job.in.type == SampleType::f32 ? 0 : job.in.max_code, job.in.levels_per_code}};
  filter.run_definition(cpu, params);
  if (job.sigma.device && filter.noise_use(params) == NoiseUse::own && sigma[0] < 0)
    for (auto* to : {job.sigma.device, job.sigma.report})
      std::memcpy(to, cpu.sigma.data(), static_cast<std::size_t>(in.channels) * sizeof(float));
  store(in, out, job);
}

void smooth(const GroupView& in, SmoothedState* state, const SmoothedStep& step, const CudaSigma& sigma) {
  static ThreadPool pool(1);
  Scratch planes, scratch;
  const auto levels = levels_of(in, planes, 0);
  for (int c = 0; c < in.channels; ++c) {
    const auto m = measure_noise(as_const(levels.channel[c]), pool, scratch, 0);
    float difference = 0;
    for (std::size_t k = 0; k < m.look.size(); ++k) difference += std::abs(m.look[k] - state[c].look[k]);
    std::ranges::copy(m.look, state[c].look);
    sigma.device[c] = sigma.report[c] = smoothing::advance(
        state[c].estimate, m.sigma, difference / smoothing::look_size, step.seconds, step.reset != 0);
  }
}

}  // namespace

std::function<void()> definition_on(const FilterInfo& filter, const CudaJob& job, const void* params) {
  alignas(8) std::array<std::byte, max_params_size> copy;
  std::memcpy(copy.data(), params, filter.params_size);
  std::vector<GroupView> past(job.past.begin(), job.past.end());
  return [&filter, job, copy, past = std::move(past)]() {
    auto mine = job;
    mine.past = past;
    run(filter, mine, copy.data());
  };
}

// The state and the step are read when the work runs, as on a device.
std::function<void()> smoothed_on(const GroupView& in, SmoothedState* state, const SmoothedStep* step,
                                  const CudaSigma& sigma) {
  return [=] { smooth(in, state, *step, sigma); };
}

}  // namespace quietframe::cuda
