// What the element, the command line, the processors and the tests know about a filter.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "image_view.hpp"
#include "param.hpp"
#include "pixel_format.hpp"
#include "settings.hpp"

namespace quietframe {

class ThreadPool;

/// The channels of one group as float planes in levels: what the CPU definitions read and write.
/// Channel planes have equal sizes; rows are 64-byte aligned and may be read, and those of outputs written,
/// up to the next multiple of 64 bytes.
struct PlanarGroup {
  int channels = 0;
  std::array<ImageView<float>, max_channels> channel{};

  int width() const { return channel[0].width; }
  int height() const { return channel[0].height; }
};

/// Buffers that a filter asks for again with every frame; they grow to the largest size asked for and are
/// kept.
class Scratch {
 public:
  /// Buffer `index` (0, 1, ...), at least `count` floats, 64-byte aligned, contents undefined. Not
  /// thread-safe: fetch buffers before going parallel.
  float* floats(std::size_t index, std::size_t count);
  /// The same for another type of item.
  template <class T>
  T* items(std::size_t index, std::size_t count) {
    static_assert(std::is_trivial_v<T> && alignof(T) <= 64);
    return reinterpret_cast<T*>(floats(index, (count * sizeof(T) + sizeof(float) - 1) / sizeof(float)));
  }
  /// A w x h plane in buffer `index` whose rows are 64-byte aligned.
  ImageView<float> plane(std::size_t index, int width, int height);

 private:
  struct Free {
    void operator()(float* p) const;
  };
  struct Buffer {
    std::unique_ptr<float, Free> data;
    std::size_t count = 0;
  };
  std::vector<Buffer> buffers_;
};

/// What the samples of a frame were before they became levels: every one is a whole number, 0..max_code,
/// times levels_per_code. max_code 0: they were floats and may be anything.
struct SampleCodes {
  int max_code = 0;
  float levels_per_code = 1.f;
};

/// One group of one frame for a CPU filter.
struct CpuJob {
  PlanarGroup in;   ///< not to be written
  PlanarGroup out;  ///< every sample is to be written
  std::span<const PlanarGroup>
      past;  ///< earlier input frames, newest first; at most history(params), fewer at the head
  /// Noise sigma of each channel in levels. For NoiseUse::own: negative where the filter is to estimate it
  /// and write it here. For NoiseUse::shared it is always known.
  std::array<float, max_channels> sigma{};
  ThreadPool& pool;
  Scratch& scratch;
  SampleCodes codes{};  ///< of `in`
};

/// Where a filter gets the noise sigma from, given its parameters.
enum class NoiseUse {
  none,    ///< does not depend on it
  shared,  ///< from the processor (noise-sigma, or the shared estimate on bior4.4's HH)
  own,     ///< computes the estimate itself on the way, unless it is given
};

struct CudaJob;    // cuda/job.hpp
struct CudaShape;  // cuda/job.hpp

struct FilterInfo {
  const char* name;
  const char* blurb;
  std::span<const ParamInfo> params;
  std::size_t params_size;
  void (*construct_params)(void* storage);
  double tolerance;  ///< largest |CPU - CUDA| of float output, in levels; 0: equal bit for bit
  NoiseUse (*noise_use)(const void* params);
  int (*history)(const void* params);  ///< earlier frames it reads, 0..max_history
  /// What the CPU backend runs: the filter's cpu_simd.cpp where it has one, else its definition.
  void (*run_cpu)(CpuJob& job, const void* params);
  /// The plain program in the filter's cpu.cpp that defines it, and that every other version is checked
  /// against.
  void (*run_definition)(CpuJob& job, const void* params);
  /// Bytes of device scratch for a group of this shape, whatever the parameters. Null when CUDA was not
  /// built.
  std::size_t (*cuda_scratch)(const CudaShape& shape);
  /// Enqueues the filter on job.stream (it is captured into the frame's graph). Null when CUDA was not built.
  void (*run_cuda)(const CudaJob& job, const void* params);
};

inline constexpr int max_history = 3;

/// All filters, in the order of kernels/meson.build.
std::span<const FilterInfo> all_filters();
/// Null when there is none of that name.
const FilterInfo* find_filter(std::string_view name);

}  // namespace quietframe
