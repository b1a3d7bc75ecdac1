// The ways the CUDA backend has to a median, and which one it takes: the table of crossovers.
#pragma once
#include "filters/median/cuda_launch.hpp"
#include "filters/median/tiling.hpp"

namespace quietframe::median {

enum class Method : std::uint8_t {
  network,     ///< cuda_network.cu: selection networks in registers
  ordinal,     ///< cuda_ordinal.cuh: ranks in a tile, and histograms of them
  data_aware,  ///< cuda_tiling.cu: hierarchical tiling by merge paths in shared memory
};
inline constexpr Method all_methods[] = {Method::network, Method::ordinal, Method::data_aware};
const char* to_string(Method method);

/// Whether `method` can do it: windows and sample types are limited by registers and shared memory.
bool can_run(Method method, const Window& window, SampleType type);
/// The fastest for it.
Method method_for(const Window& window, SampleType type);
/// Enqueues. `method` can run it.
void run_method(Method method, const Launch& job, cudaStream_t stream);

/// cuda_network.cu: kernels/meson.build compiles it for each window that has a kernel of its own beside 3x3.
template <int Window>
void run_network(const Launch& job, cudaStream_t stream);
void run_3x3(const Launch& job, cudaStream_t stream);
bool can_run_ordinal(const Window& window);
void run_ordinal(const Launch& job, cudaStream_t stream);
/// The tiles that measured fastest for the window; those that need more shared memory than there is, or are
/// larger than the window, are refused by can_run_tiling.
TilingChoice tiling_choice(const Window& window, SampleType type);
bool can_run_tiling(const TilingChoice& choice, const Window& window, SampleType type);
void run_tiling(const TilingChoice& choice, const Launch& job, cudaStream_t stream);

/// The filter for any odd window up to max_window x max_window, as run_window_cpu.
void run_window_cuda(const CudaJob& job, const Window& window);

}  // namespace quietframe::median
