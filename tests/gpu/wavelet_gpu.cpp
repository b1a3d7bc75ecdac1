// The wavelet filter on a GPU without the element: parity of all schedules with the CPU definition, the exact
// median against sorting, and times of graph replays. Usage: wavelet-gpu check | quick | bench | once. Exits
// 77 without a GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/error.hpp"
#include "cuda/job.hpp"
#include "filters/wavelet/stages_cuda.hpp"
#include "filters/wavelet/subband_cuda.hpp"
#include "noise/estimate.hpp"
#include "noise/estimate_cuda.hpp"
#include "noise/median_cuda.hpp"
#include "sample.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

using wavelet::Basis;
using wavelet::Params;
using wavelet::Rule;
using wavelet::Schedule;

class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    QF_CUDA_CHECK(cudaMalloc(&p_, std::max<std::size_t>(bytes, 1)));
  }
  ~DeviceBuffer() { cudaFree(p_); }
  DeviceBuffer(DeviceBuffer&& o) noexcept : p_(std::exchange(o.p_, nullptr)), bytes_(o.bytes_) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  std::byte* get() const { return static_cast<std::byte*>(p_); }
  std::size_t bytes() const { return bytes_; }
  void put(const void* from, std::size_t bytes) {
    QF_CUDA_CHECK(cudaMemcpy(p_, from, bytes, cudaMemcpyHostToDevice));
  }
  void get(void* to, std::size_t bytes) const {
    QF_CUDA_CHECK(cudaMemcpy(to, p_, bytes, cudaMemcpyDeviceToHost));
  }

 private:
  void* p_ = nullptr;
  std::size_t bytes_;
};

struct Streams {
  cudaStream_t main, side;
  cudaEvent_t fork, join, begin, end;
  Streams() {
    QF_CUDA_CHECK(cudaStreamCreateWithFlags(&main, cudaStreamNonBlocking));
    QF_CUDA_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    QF_CUDA_CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    QF_CUDA_CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    QF_CUDA_CHECK(cudaEventCreate(&begin));
    QF_CUDA_CHECK(cudaEventCreate(&end));
  }
};

template <class F>
cudaGraphExec_t captured(Streams& s, F&& enqueue) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  QF_CUDA_CHECK(cudaStreamBeginCapture(s.main, cudaStreamCaptureModeThreadLocal));
  enqueue();
  QF_CUDA_CHECK(cudaStreamEndCapture(s.main, &graph));
  QF_CUDA_CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  QF_CUDA_CHECK(cudaGraphDestroy(graph));
  return exec;
}

/// Planes with rows of `padding` more bytes than they need, at an odd offset, between guard bytes.
struct Picture {
  FrameFormat format;
  std::vector<std::byte> host;
  Frame frame;  ///< offsets into `host`

  Picture(FrameFormat f, int padding, int offset) : format(f), frame{f, {}, {}, MemoryKind::pageable} {
    const auto& info = format_info(f.format);
    std::size_t at = static_cast<std::size_t>(offset);
    for (int p = 0; p < info.planes; ++p) {
      const auto size = plane_size(info, p, f.width, f.height);
      frame.stride[p] = size.row_bytes + padding / info.sample_bytes() * info.sample_bytes();
      frame.plane[p] = reinterpret_cast<std::byte*>(at);
      at += static_cast<std::size_t>(frame.stride[p]) * static_cast<std::size_t>(size.rows);
      at = (at + 15) / 16 * 16 + static_cast<std::size_t>(offset);
    }
    host.assign(at + 64, std::byte{0xa5});
  }
  Frame over(std::byte* base) const {
    Frame f = frame;
    for (int p = 0; p < format_info(format.format).planes; ++p)
      f.plane[p] = base + reinterpret_cast<std::uintptr_t>(frame.plane[p]);
    return f;
  }
  void fill(std::mt19937& random, int kind) {
    const Frame f = over(host.data());
    for (int g = 0; g < format_info(format.format).groups; ++g) {
      const auto v = group_view(f, g);
      with_sample_type(v.type, [&]<SampleType S>() {
        for (int c = 0; c < v.channels; ++c)
          for (int y = 0; y < v.height; ++y)
            for (int x = 0; x < v.width; ++x) {
              float level = 100.f + 60.f * std::sin(0.05f * static_cast<float>(x + 2 * y + 30 * c));
              level += 12.f * (static_cast<float>(random() % 2001) / 1000.f - 1.f);
              if (kind == 1) level = random() % 2 ? 255.f : 0.f;
              if (kind == 2) level = 200.f;
              if (kind == 3) level = x < v.width / 2 ? 0.f : level;
              store_level<S>(v.channel[c] + y * v.stride[c] + std::ptrdiff_t{x} * v.step, v.shift,
                             1.f / v.levels_per_code, v.max_code, level);
            }
      });
      if (v.carry)
        for (int y = 0; y < v.height; ++y)
          for (int x = 0; x < v.width; ++x)
            v.carry[y * v.stride[0] + std::ptrdiff_t{x} * v.step] = static_cast<std::byte>(random());
    }
  }
};

struct Defined {
  std::vector<std::vector<float>> plane;
  std::array<float, max_channels> sigma;
};

Defined define(const GroupView& v, const Params& p, float sigma, float strength, ThreadPool& pool) {
  Scratch scratch;
  Defined d{std::vector<std::vector<float>>(static_cast<std::size_t>(v.channels)), {}};
  d.sigma.fill(sigma);
  PlanarGroup in{v.channels, {}}, out{v.channels, {}};
  std::vector<std::vector<float>> levels(static_cast<std::size_t>(v.channels));
  const auto n = static_cast<std::size_t>(v.width) * static_cast<std::size_t>(v.height);
  for (int c = 0; c < v.channels; ++c) {
    levels[c].resize(n);
    d.plane[c].resize(n);
    with_sample_type(v.type, [&]<SampleType S>() {
      for (int y = 0; y < v.height; ++y)
        for (int x = 0; x < v.width; ++x)
          levels[c][static_cast<std::size_t>(y) * v.width + x] = load_level<S>(
              v.channel[c] + y * v.stride[c] + std::ptrdiff_t{x} * v.step, v.shift, v.levels_per_code);
    });
    in.channel[c] = {levels[c].data(), v.width, v.height, std::ptrdiff_t{v.width} * 4};
    out.channel[c] = {d.plane[c].data(), v.width, v.height, std::ptrdiff_t{v.width} * 4};
  }
  CpuJob job{in, out, {}, d.sigma, pool, scratch};
  wavelet::run_cpu(job, p);
  d.sigma = job.sigma;
  for (int c = 0; c < v.channels; ++c)
    for (std::size_t i = 0; i < n; ++i) d.plane[c][i] = mix(levels[c][i], d.plane[c][i], strength);
  return d;
}

struct Tally {
  int cases = 0, failures = 0;
  float worst = 0, worst_sigma = 0;
  long samples = 0, codes_off = 0;
};

void compare(const GroupView& got, const Defined& want, Tally& t, const std::string& name) {
  int shown = 0;
  with_sample_type(got.type, [&]<SampleType S>() {
    for (int c = 0; c < got.channels; ++c)
      for (int y = 0; y < got.height; ++y)
        for (int x = 0; x < got.width; ++x) {
          const std::byte* p = got.channel[c] + y * got.stride[c] + std::ptrdiff_t{x} * got.step;
          const float level = want.plane[c][static_cast<std::size_t>(y) * got.width + x];
          bool bad;
          ++t.samples;
          if constexpr (S == SampleType::f32) {
            const float d = std::abs(*reinterpret_cast<const float*>(p) - level);
            if (d > t.worst) t.worst = d;
            bad = !(d <= 1e-3f);
          } else {
            const float scale = 1.f / got.levels_per_code;
            const int code = load_code<S>(p, got.shift);
            bad = code < level_to_code(level - 1e-3f, scale, got.max_code) ||
                  code > level_to_code(level + 1e-3f, scale, got.max_code);
            if (code != level_to_code(level, scale, got.max_code)) ++t.codes_off;
          }
          if (bad && shown++ < 2) {
            std::printf("  WRONG %s channel %d at %d,%d: want %.4f, got %.4f\n", name.c_str(), c, x, y, level,
                        load_level<S>(p, got.shift, got.levels_per_code));
          }
        }
  });
  if (shown) ++t.failures;
}

const char* schedule_name(Schedule s) { return wavelet::schedule_choices[static_cast<int>(s)].nick; }

void check_case(FrameFormat f, int padding, int offset, int kind, const Params& p, float sigma,
                float strength, Streams& s, ThreadPool& pool, Tally& t) {
  std::mt19937 random(static_cast<unsigned>(f.width * 131 + f.height + kind));
  Picture picture(f, padding, offset), result(f, padding, offset);
  picture.fill(random, kind);
  DeviceBuffer in(picture.host.size()), out(picture.host.size()), sigma_buffer(sizeof(float) * max_channels);
  in.put(picture.host.data(), picture.host.size());
  out.put(result.host.data(), result.host.size());
  const Frame host_in = picture.over(picture.host.data());
  std::vector<std::byte> expected_guard = result.host;
  for (int g = 0; g < format_info(f.format).groups; ++g) {
    CudaJob job;
    job.in = group_view(picture.over(in.get()), g);
    job.out = group_view(result.over(out.get()), g);
    job.sigma.fixed.fill(sigma);
    if (sigma < 0) job.sigma.device = reinterpret_cast<float*>(sigma_buffer.get());
    job.strength = strength;
    job.stream = s.main;
    job.side_stream = s.side;
    job.fork = s.fork;
    job.join = s.join;
    const CudaShape shape{job.in.width, job.in.height, job.in.channels, job.in.type};
    DeviceBuffer scratch(wavelet::cuda_scratch(shape));
    QF_CUDA_CHECK(cudaMemset(scratch.get(), 0xff, scratch.bytes()));
    job.scratch = scratch.get();
    job.scratch_bytes = scratch.bytes();
    wavelet::run_cuda(job, p);
    QF_CUDA_CHECK(cudaStreamSynchronize(s.main));
    out.get(result.host.data(), result.host.size());
    std::array<float, max_channels> device_sigma{};
    sigma_buffer.get(device_sigma.data(), sizeof device_sigma);
    const auto view = group_view(result.over(result.host.data()), g);
    const auto want = define(group_view(host_in, g), p, sigma, strength, pool);
    const std::string name =
        std::string(format_info(f.format).name) + " " + std::to_string(f.width) + "x" +
        std::to_string(f.height) + " " + schedule_name(p.schedule) + " basis " +
        std::to_string(static_cast<int>(p.basis)) + " levels " + std::to_string(p.levels) + " rule " +
        std::to_string(static_cast<int>(p.threshold)) + " kind " + std::to_string(kind) + " group " +
        std::to_string(g) + " sigma " + std::to_string(sigma) + " padding " + std::to_string(padding);
    ++t.cases;
    const int before = t.failures;
    compare(view, want, t, name);
    for (int c = 0; c < view.channels && sigma < 0; ++c) {
      const float d = std::abs(device_sigma[c] - want.sigma[c]);
      t.worst_sigma = std::max(t.worst_sigma, d);
      if (!(d <= 1e-4f * (1 + want.sigma[c]))) {
        std::printf("  WRONG sigma %s: want %.7g got %.7g\n", name.c_str(), want.sigma[c], device_sigma[c]);
        ++t.failures;
      }
    }
    if (view.carry)
      for (int y = 0; y < view.height; ++y)
        for (int x = 0; x < view.width; ++x) {
          const auto at = std::ptrdiff_t{x} * view.step;
          const auto in_view = group_view(host_in, g);
          if (view.carry[y * view.stride[0] + at] != in_view.carry[y * in_view.stride[0] + at]) {
            if (t.failures == before)
              std::printf("  WRONG carry %s at %d,%d\n", name.c_str(), x, y), ++t.failures;
          }
        }
    if (t.failures > 12) std::exit(1);
  }
  // Bytes between rows and around planes are as they were.
  std::vector<bool> touched(result.host.size());
  const auto& info = format_info(f.format);
  for (int q = 0; q < info.planes; ++q) {
    const auto size = plane_size(info, q, f.width, f.height);
    for (int y = 0; y < size.rows; ++y)
      for (std::ptrdiff_t b = 0; b < size.row_bytes; ++b)
        touched[reinterpret_cast<std::uintptr_t>(result.frame.plane[q]) +
                static_cast<std::size_t>(y * result.frame.stride[q] + b)] = true;
  }
  for (std::size_t i = 0; i < touched.size(); ++i)
    if (!touched[i] && result.host[i] != std::byte{0xa5}) {
      std::printf("  WRONG guard byte %zu of %s %dx%d %s\n", i, info.name, f.width, f.height,
                  schedule_name(p.schedule));
      ++t.failures;
      break;
    }
}

int check(bool quick) {
  Streams s;
  ThreadPool pool(quick ? 2 : 12);
  Tally all;
  const Schedule schedules[] = {Schedule::fused, Schedule::branches, Schedule::stages};
  const std::pair<int, int> sizes[] = {{1, 1},   {2, 1},   {1, 7},     {3, 3},    {17, 5},
                                       {64, 64}, {65, 47}, {120, 128}, {121, 65}, {258, 130}};
  const std::pair<int, int> few[] = {{1, 1}, {5, 9}, {61, 70}};
  const PixelFormat formats[] = {PixelFormat::gray8,     PixelFormat::gray16_le, PixelFormat::gray16_be,
                                 PixelFormat::i420_10le, PixelFormat::p010_10le, PixelFormat::nv12,
                                 PixelFormat::yuy2,      PixelFormat::rgb,       PixelFormat::argb,
                                 PixelFormat::gray_f32,  PixelFormat::rgb_f32};
  for (const auto schedule : schedules) {
    Tally t;
    Params p;
    p.schedule = schedule;
    int n = 0;
    for (const auto format : formats)  // every format and size, with the defaults
      for (const auto& [w, h] : std::span(quick ? few : sizes, quick ? std::size(few) : std::size(sizes)))
        for (int wide = 0; wide < 2; ++wide, ++n)
          check_case({format, w, h, format == PixelFormat::gray16_le ? 12 : 0}, wide ? 16 - w % 16 : 2,
                     wide ? 0 : 4, n % 4, p, n % 5 == 4 ? 9.f : -1.f, n % 7 == 6 ? 0.4f : 1.f, s, pool, t);
    for (int basis = 0; basis < 5; ++basis)  // every basis, level and rule
      for (int levels = 1; levels <= 5; ++levels)
        for (int rule = 0; rule < 3; ++rule)
          for (const auto& [w, h] : {std::pair{1, 1}, {37, 50}, {131, 67}}) {
            if (quick && (levels == 2 || levels == 4 || w > 100)) continue;
            p.basis = static_cast<Basis>(basis);
            p.levels = levels;
            p.threshold = static_cast<Rule>(rule);
            check_case({rule == 0 ? PixelFormat::gray_f32 : PixelFormat::gray8, w, h, 0}, 8, 0, levels % 2, p,
                       rule == 1 ? 7.f : -1.f, 1.f, s, pool, t);
          }
    if (!quick) {  // the large tiles
      p = Params{};
      p.schedule = schedule;
      for (const auto format :
           {PixelFormat::gray8, PixelFormat::gray16_be, PixelFormat::gray_f32, PixelFormat::rgb})
        check_case({format, 1283, 823, 0}, 5, 0, 0, p, -1.f, 1.f, s, pool, t);
      check_case({PixelFormat::gray8, 1920, 1080, 0}, 0, 0, 0, p, -1.f, 1.f, s, pool, t);
      check_case({PixelFormat::gray_f32, 1920, 1080, 0}, 0, 0, 2, p, -1.f, 1.f, s, pool, t);
    }
    std::printf(
        "parity %-8s %d cases, %d failures, max |CPU - CUDA| %.2e levels (float), sigma %.2e; %ld of %ld "
        "samples differ by rounding\n",
        schedule_name(schedule), t.cases, t.failures, t.worst, t.worst_sigma, t.codes_off, t.samples);
    std::fflush(stdout);
    all.failures += t.failures;
  }
  return all.failures;
}

float sorted_sigma(std::vector<float> v) {
  for (auto& x : v) x = std::abs(x);
  std::ranges::sort(v);
  const auto n = v.size();
  return (n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) * 0.5f) / 0.6745f;
}

int check_median(bool quick) {
  Streams s;
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.f, 6.f);
  int failures = 0, cases = 0;
  DeviceBuffer sigma(sizeof(float) * max_channels);
  std::vector<int> counts = {1, 2, 3, 4, 5, 25, 257, 4096, 67600};
  if (!quick) counts.insert(counts.end(), {67601, 520836, 2088964});
  for (const int n : counts)
    for (int kind = 0; kind < 9; ++kind, ++cases) {
      std::vector<float> v(static_cast<std::size_t>(n));
      for (auto& x : v) {
        x = normal(random);
        if (kind == 1) x = std::round(x);
        if (kind == 2) x = -3.25f;
        if (kind == 3) x = 0.f;
        if (kind == 4) x *= 1e-8f;
        if (kind == 5) x = random() % 2 ? 1e-20f : 4000.f;
        if (kind == 6) x = std::ldexp(x, static_cast<int>(random() % 60) - 30);
        if (kind == 7) x = 100.f + 1e-4f * x;
        if (kind == 8) x = 1.1920929e-7f * static_cast<float>(random() % 3);
      }
      DeviceBuffer values(v.size() * 4), state(sizeof(noise::MedianState));
      values.put(v.data(), v.size() * 4);
      noise::MedianInput in;
      in.channels = 1;
      in.count = n;
      in.values[0] = reinterpret_cast<float*>(values.get());
      in.state[0] = reinterpret_cast<noise::MedianState*>(state.get());
      CudaSigma to;
      to.device = reinterpret_cast<float*>(sigma.get());
      noise::enqueue_clear(in, s.main);
      noise::enqueue_count(in, s.main);
      noise::enqueue_sigma(in, to, false, s.main);
      QF_CUDA_CHECK(cudaStreamSynchronize(s.main));
      float got;
      sigma.get(&got, 4);
      const float want = sorted_sigma(v);
      if (std::memcmp(&got, &want, 4) != 0) {
        std::printf("  WRONG median n %d kind %d: want %.9g got %.9g\n", n, kind, want, got);
        ++failures;
      }
    }
  // Of the coefficients that the kernels make themselves.
  for (const auto& [w, h] : {std::pair{512, 512}, {641, 333}, {1920, 1080}}) {
    if (quick && w > 600) continue;
    ++cases;
    Picture picture({PixelFormat::gray8, w, h, 0}, 0, 0);
    picture.fill(random, 0);
    DeviceBuffer in(picture.host.size()), scratch(estimate_sigma_cuda_scratch({w, h, 1, SampleType::u8}));
    in.put(picture.host.data(), picture.host.size());
    CudaSigma to;
    to.device = reinterpret_cast<float*>(sigma.get());
    estimate_sigma_cuda(group_view(picture.over(in.get()), 0), to, scratch.get(), s.main);
    QF_CUDA_CHECK(cudaStreamSynchronize(s.main));
    const auto n = static_cast<std::size_t>(wavelet::coefficients(w, 10)) *
                   static_cast<std::size_t>(wavelet::coefficients(h, 10));
    std::vector<float> hh(n);
    QF_CUDA_CHECK(
        cudaMemcpy(hh.data(), scratch.get() + sizeof(noise::MedianState), n * 4, cudaMemcpyDeviceToHost));
    float got;
    sigma.get(&got, 4);
    const float want = sorted_sigma(hh);
    if (std::memcmp(&got, &want, 4) != 0) {
      std::printf("  WRONG shared estimate %dx%d: want %.9g got %.9g\n", w, h, want, got);
      ++failures;
    }
  }
  std::printf("median  %d cases, %d not equal to sorting to the last bit\n", cases, failures);
  return failures;
}

struct Timing {
  double chained;  ///< microseconds a frame, all frames in one graph
  double single;   ///< a graph a frame, launched back to back
};

template <class F>
Timing time_frames(Streams& s, int frames, F&& enqueue) {
  auto replay = [&](std::vector<cudaGraphExec_t>& graphs, int rounds) {
    std::vector<double> us;
    for (int r = 0; r < rounds + 3; ++r) {
      QF_CUDA_CHECK(cudaEventRecord(s.begin, s.main));
      for (auto g : graphs) QF_CUDA_CHECK(cudaGraphLaunch(g, s.main));
      QF_CUDA_CHECK(cudaEventRecord(s.end, s.main));
      QF_CUDA_CHECK(cudaEventSynchronize(s.end));
      float ms;
      QF_CUDA_CHECK(cudaEventElapsedTime(&ms, s.begin, s.end));
      if (r >= 3) us.push_back(1e3 * static_cast<double>(ms) / frames);
    }
    std::ranges::sort(us);
    for (auto g : graphs) cudaGraphExecDestroy(g);
    return us[us.size() / 2];
  };
  std::vector<cudaGraphExec_t> one{captured(s, [&] {
    for (int i = 0; i < frames; ++i) enqueue(i);
  })};
  std::vector<cudaGraphExec_t> many;
  for (int i = 0; i < frames; ++i) many.push_back(captured(s, [&] { enqueue(i); }));
  const double a = replay(one, 15);
  return {a, replay(many, 15)};
}

void bench_size(Streams& s, PixelFormat format, int w, int h, const char* name) {
  const FrameFormat f{format, w, h, 0};
  const auto bytes = pack_frame(f, nullptr, nullptr);
  const int frames =
      static_cast<int>(std::clamp<std::size_t>((std::size_t{128} << 20) / (2 * bytes), 4, 128));
  std::mt19937 random(1);
  Picture picture(f, 0, 0);
  picture.fill(random, 0);
  std::vector<DeviceBuffer> in, out;
  for (int i = 0; i < frames; ++i) {
    in.emplace_back(picture.host.size());
    out.emplace_back(picture.host.size());
    in.back().put(picture.host.data(), picture.host.size());
  }
  DeviceBuffer sigma(sizeof(float) * max_channels);
  CudaJob job;
  job.stream = s.main;
  job.side_stream = s.side;
  job.fork = s.fork;
  job.join = s.join;
  const auto view = group_view(picture.over(in[0].get()), 0);
  DeviceBuffer scratch(wavelet::cuda_scratch({w, h, view.channels, view.type}));
  job.scratch = scratch.get();
  job.scratch_bytes = scratch.bytes();
  auto at = [&](int i, float fixed) {
    job.in = group_view(picture.over(in[static_cast<std::size_t>(i)].get()), 0);
    job.out = group_view(picture.over(out[static_cast<std::size_t>(i)].get()), 0);
    job.sigma = {};
    job.sigma.fixed.fill(fixed);
    if (fixed < 0) job.sigma.device = reinterpret_cast<float*>(sigma.get());
  };
  const auto copy = time_frames(s, frames, [&](int i) {
    QF_CUDA_CHECK(cudaMemcpyAsync(out[static_cast<std::size_t>(i)].get(),
                                  in[static_cast<std::size_t>(i)].get(), bytes, cudaMemcpyDeviceToDevice,
                                  s.main));
  });
  std::printf("%-14s D2D copy           %7.2f us (%.2f TB/s)   a graph each %7.2f us\n", name, copy.chained,
              2e-6 * static_cast<double>(bytes) / copy.chained, copy.single);
  auto line = [&](const char* what, const Timing& t) {
    std::printf("%-14s %-18s %7.2f us (x%.1f of copy)  a graph each %7.2f us\n", name, what, t.chained,
                t.chained / copy.chained, t.single);
    std::fflush(stdout);
  };
  Params p;
  line("fused exact", time_frames(s, frames, [&](int i) { at(i, -1.f), wavelet::run_cuda(job, p); }));
  line("fused given", time_frames(s, frames, [&](int i) { at(i, 8.f), wavelet::run_cuda(job, p); }));
  line("estimate alone", time_frames(s, frames, [&](int i) {
         at(i, -1.f);
         estimate_sigma_cuda(job.in, job.sigma, job.scratch, s.main);
       }));
  for (const int levels : {3}) {
    p.levels = levels;
    line("fused 3 levels", time_frames(s, frames, [&](int i) { at(i, -1.f), wavelet::run_cuda(job, p); }));
    p.levels = 1;
  }
  for (const auto schedule : {Schedule::stages, Schedule::branches})
    for (const int block : {8, 16, 32}) {
      p.schedule = schedule;
      const std::string what =
          std::string(schedule_name(schedule)) + " " + std::to_string(block) + "x" + std::to_string(block);
      line(what.c_str(),
           time_frames(s, frames, [&](int i) { at(i, -1.f), wavelet::enqueue_stages(job, p, block); }));
    }
  p = Params{};
  if (w == 512) {
    p.basis = Basis::coif2;
    line("fused coif2", time_frames(s, frames, [&](int i) { at(i, -1.f), wavelet::run_cuda(job, p); }));
    p.basis = Basis::haar;
    line("fused haar", time_frames(s, frames, [&](int i) { at(i, -1.f), wavelet::run_cuda(job, p); }));
  }
}

void bench() {
  Streams s;
  bench_size(s, PixelFormat::gray8, 512, 512, "512x512 u8");
  bench_size(s, PixelFormat::gray_f32, 512, 512, "512x512 f32");
  bench_size(s, PixelFormat::gray8, 1920, 1080, "1080p u8");
  bench_size(s, PixelFormat::gray_f32, 1920, 1080, "1080p f32");
  bench_size(s, PixelFormat::rgba, 1920, 1080, "1080p RGBA");
  bench_size(s, PixelFormat::gray8, 3840, 2160, "4K u8");
  bench_size(s, PixelFormat::gray_f32, 3840, 2160, "4K f32");
}

/// A few frames without graphs, for a profiler.
void once() {
  Streams s;
  for (const auto& [w, h] : {std::pair{512, 512}, {1920, 1080}, {3840, 2160}}) {
    std::mt19937 random(1);
    Picture picture({PixelFormat::gray8, w, h, 0}, 0, 0);
    picture.fill(random, 0);
    DeviceBuffer in(picture.host.size()), out(picture.host.size()), sigma(sizeof(float) * max_channels);
    in.put(picture.host.data(), picture.host.size());
    CudaJob job;
    job.stream = s.main;
    job.in = group_view(picture.over(in.get()), 0);
    job.out = group_view(picture.over(out.get()), 0);
    job.sigma.fixed.fill(-1.f);
    job.sigma.device = reinterpret_cast<float*>(sigma.get());
    DeviceBuffer scratch(wavelet::cuda_scratch({w, h, 1, SampleType::u8}));
    job.scratch = scratch.get();
    for (int i = 0; i < 2; ++i) wavelet::run_cuda(job, Params{});
    QF_CUDA_CHECK(cudaStreamSynchronize(s.main));
  }
}

}  // namespace
}  // namespace quietframe

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "check";
  try {
    if (int devices = 0; cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
      std::puts("no GPU: nothing was checked");
      return 77;  // skipped, as meson counts
    }
    if (mode == "once") return quietframe::once(), 0;
    if (mode == "bench") return quietframe::bench(), 0;
    const bool quick = mode == "quick";
    const int failures = quietframe::check_median(quick) + quietframe::check(quick);
    return failures ? 1 : 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wavelet-gpu: %s\n", e.what());
    return 2;
  }
}
