// The table of filters, made at compile time from the list in kernels/meson.build.
#include <cstdlib>
#include <new>
#include <type_traits>

#include "filter.hpp"
#include "filter_includes.inc"

namespace quietframe {
namespace {

template <class P, NoiseUse (*Noise)(const P&), int (*History)(const P&), void (*Cpu)(CpuJob&, const P&)>
constexpr FilterInfo describe(const char* name, const char* blurb, std::span<const ParamInfo> params,
                              double tolerance) {
  static_assert(std::is_standard_layout_v<P> && std::is_trivially_copyable_v<P>);
  static_assert(sizeof(P) <= max_params_size);
  return {name,
          blurb,
          params,
          sizeof(P),
          [](void* p) { new (p) P{}; },
          tolerance,
          [](const void* p) { return Noise(*static_cast<const P*>(p)); },
          [](const void* p) { return History(*static_cast<const P*>(p)); },
          [](CpuJob& job, const void* p) { Cpu(job, *static_cast<const P*>(p)); },
          [](CpuJob& job, const void* p) { Cpu(job, *static_cast<const P*>(p)); },
          nullptr,
          nullptr};
}

template <class P, void (*Run)(CpuJob&, const P&)>
constexpr FilterInfo with_simd(FilterInfo info) {
  info.run_cpu = [](CpuJob& job, const void* p) { Run(job, *static_cast<const P*>(p)); };
  return info;
}

#if QF_HAVE_CUDA
template <class P, std::size_t (*Bytes)(const CudaShape&), void (*Run)(const CudaJob&, const P&)>
constexpr FilterInfo with_cuda(FilterInfo info) {
  info.cuda_scratch = Bytes;
  info.run_cuda = [](const CudaJob& job, const void* p) { Run(job, *static_cast<const P*>(p)); };
  return info;
}
#endif

#define FILTER_DEFINED(name)                                                                              \
  describe<name::Params, name::noise_use, name::history, name::run_cpu>(#name, name::blurb, name::params, \
                                                                        name::tolerance)
#define FILTER_SIMD(name, info) with_simd<name::Params, name::run_simd>(info)
#define FILTER_CUDA(name, info) with_cuda<name::Params, name::cuda_scratch, name::run_cuda>(info)

constexpr FilterInfo filters[] = {
#include "filter_list.inc"
};

}  // namespace

std::span<const FilterInfo> all_filters() { return filters; }

const FilterInfo* find_filter(std::string_view name) {
  for (const auto& f : filters)
    if (name == f.name) return &f;
  return nullptr;
}

FrameSettings default_settings(const FilterInfo& filter) {
  FrameSettings s;
  s.filter = &filter;
  filter.construct_params(s.params.data());
  return s;
}

void Scratch::Free::operator()(float* p) const { std::free(p); }

float* Scratch::floats(std::size_t index, std::size_t count) {
  if (index >= buffers_.size()) buffers_.resize(index + 1);
  auto& b = buffers_[index];
  if (b.count < count) {
    const std::size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    b.data.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
    if (!b.data) throw std::bad_alloc();
    b.count = bytes / sizeof(float);
  }
  return b.data.get();
}

ImageView<float> Scratch::plane(std::size_t index, int width, int height) {
  const std::ptrdiff_t stride = (static_cast<std::ptrdiff_t>(width) * 4 + 63) / 64 * 64;
  return {floats(index, static_cast<std::size_t>(stride / 4) * static_cast<std::size_t>(height)), width,
          height, stride};
}

}  // namespace quietframe
