// The median on CUDA: every window, rank and type goes to the method that measured fastest for it.
#include <stdexcept>
#include <string>
#include <utility>

#include "filters/median/cuda_methods.hpp"

namespace quietframe::median {

namespace {

constexpr int network_windows[] = {
#include "median_windows.inc"
};

// Calls f with the window as a constant; false where it has no networks.
template <class F>
bool with_network(int window, F&& f) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((network_windows[I] == window && (f.template operator()<network_windows[I]>(), true)) || ...);
  }
  (std::make_index_sequence<std::size(network_windows)>());
}

bool is_square_median(const Window& w) { return w.width == w.height && w.rank == (w.count() - 1) / 2; }

}  // namespace

const char* to_string(Method method) {
  constexpr const char* names[] = {"network", "ordinal", "data-aware"};
  return names[static_cast<int>(method)];
}

bool can_run(Method method, const Window& window, SampleType type) {
  if (method == Method::data_aware) return can_run_tiling(tiling_choice(window, type), window, type);
  if (method == Method::ordinal) return can_run_ordinal(window);
  return is_square_median(window) && (window.width == 3 || with_network(window.width, [&]<int W>() {}));
}

void run_method(Method method, const Launch& job, cudaStream_t stream) {
  if (method == Method::data_aware) return run_tiling(tiling_choice(job.window, job.in.type), job, stream);
  if (method == Method::ordinal) return run_ordinal(job, stream);
  if (job.window.width == 3) return run_3x3(job, stream);
  with_network(job.window.width, [&]<int W>() { run_network<W>(job, stream); });
}

// Crossovers, measured with median-sweep at 3840x2160 on an NVIDIA H200, 2026-12-01; microseconds a frame:
//   k             3   5   7   9  11  13  15  17  19  21  23  31   53   75
//   u8, network  11  24  40  62  89 142 177 229 314 386
//       ordinal                             406 412 416 423 545  874 1559
//   u16, network 13  26  43  64  91 144 179 235 329 393
//       ordinal                             489 497 504 511 675 1169 2088
//   f32, network 22  48  81 124 182 318 413 553 606 739
//       ordinal                             644 653 660 667 866 1542 2740
// so all_methods stands in the order of preference, but for floats at 21x21. The data-aware variant is exact
// and slower at every window measured (u8 at 9, 31, 75: 1854, 3881, 15651), so it is last, for tests and the
// sweep.
Method method_for(const Window& window, SampleType type) {
  constexpr int last_float_network = 19;
  for (const Method m : all_methods) {
    if (m == Method::network && type == SampleType::f32 && window.width > last_float_network) continue;
    if (can_run(m, window, type)) return m;
  }
  throw std::invalid_argument("no CUDA median for a window of " + std::to_string(window.width) + "x" +
                              std::to_string(window.height) + ": width and height must be 1 to " +
                              std::to_string(max_window));
}

std::size_t cuda_scratch(const CudaShape&) { return 0; }

void run_window_cuda(const CudaJob& job, const Window& window) {
  check_window(window);
  run_method(method_for(window, job.in.type), {job.in, job.out, window, job.strength}, job.stream);
}

void run_cuda(const CudaJob& job, const Params& p) { run_window_cuda(job, window(p)); }

}  // namespace quietframe::median
