// Which shapes the ordinal median is compiled for.
#include "filters/median/cuda_methods.hpp"
#include "filters/median/cuda_ordinal.cuh"

namespace quietframe::median {
namespace {

/// From the smallest footprint to the largest, which is that of the largest window.
template <class F>
bool with_shape(const Window& window, F&& f) {
  auto first = [&]<class... Shapes>() {
    return ((Shapes::fits(window) && (f.template operator()<Shapes>(), true)) || ...);
  };
  return first
      .template operator()<OrdinalShape<32, 32, 256, 8, 4, 4>, OrdinalShape<32, 32, 256, 12, 4, 4>,
                           OrdinalShape<32, 32, 256, 16, 4, 3>, OrdinalShape<32, 32, 256, 20, 4, 2>,
                           OrdinalShape<32, 32, 256, 24, 4, 2>, OrdinalShape<32, 32, 256, 28, 4, 2>,
                           OrdinalShape<32, 32, 512, 16, 2, 1>, OrdinalShape<32, 32, 512, 18, 2, 1>,
                           OrdinalShape<32, 32, 512, 20, 2, 1>, OrdinalShape<32, 32, 512, 22, 2, 1>>();
}

}  // namespace

bool can_run_ordinal(const Window& window) {
  return with_shape(window, [&]<class Shape>() {});
}

void run_ordinal(const Launch& job, cudaStream_t stream) {
  with_shape(job.window, [&]<class Shape>() { launch_ordinal<Shape>(job, stream); });
}

}  // namespace quietframe::median
