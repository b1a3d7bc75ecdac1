// Which shapes the ordinal median is compiled for.
#include "filters/median/cuda_methods.hpp"
#include "filters/median/cuda_ordinal.cuh"

namespace quietframe::median {
namespace {

// Calls f with the smallest shape of `method` that the window fits in; false where none does.
template <class F>
bool with_shape(Method method, const Window& window, F&& f) {
  auto first = [&]<class... Shapes>() {
    return ((Shapes::fits(window) && (f.template operator()<Shapes>(), true)) || ...);
  };
  switch (method) {
    case Method::ordinal_32x32:
      return first.template operator()<OrdinalShape<32, 32, 256, 8, 4>, OrdinalShape<32, 32, 256, 12, 4>,
                                       OrdinalShape<32, 32, 256, 16, 4>, OrdinalShape<32, 32, 256, 24, 4>>();
    case Method::ordinal_64x64:
      return first.template operator()<OrdinalShape<64, 64, 512, 24, 4>, OrdinalShape<64, 64, 512, 29, 4>>();
    case Method::ordinal_64x32:
      return first.template operator()<OrdinalShape<64, 32, 512, 29, 2>>();
    default:
      return false;
  }
}

}  // namespace

bool can_run_ordinal(Method method, const Window& window) {
  return with_shape(method, window, [&]<class Shape>() {});
}

void run_ordinal(Method method, const Launch& job, cudaStream_t stream) {
  with_shape(method, job.window, [&]<class Shape>() { launch_ordinal<Shape>(job, stream); });
}

}  // namespace quietframe::median
