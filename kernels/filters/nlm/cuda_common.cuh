// What the implementations of non-local means on CUDA share: their arguments, and how a distance becomes a
// weight.
#pragma once
#include "cuda/launch.cuh"
#include "cuda/tile.cuh"
#include "filters/nlm/params.hpp"

namespace quietframe::nlm {

/// What every kernel is given, by value.
struct Scene {
  cuda::PixelJob job;
  cuda::Layout layout;
  CudaSigma sigma;
  Params params;
  int frames;  ///< that are searched: the current one and the past ones
  cuda::PixelView frame[max_history + 1];

  Scene(const CudaJob& j, const Params& p)
      : job(j), layout(cuda::layout_of(j.in)), sigma(j.sigma), params(p), frames(1), frame{job.in} {
    for (const auto& past : j.past) {
      if (frames > p.temporal_radius || frames > max_history) break;
      frame[frames++] = cuda::PixelView(past);
    }
  }
};

/// w = 2^min(offset - scale * SSD, 0), SSD the sum of squared differences over a patch and its channels.
struct Weighting {
  float scale, offset;
  bool exclude_own;  ///< the pixel itself is left out, and gets its weight at the end

  __device__ Weighting(const Scene& scene, int channels) {
    float sigma[max_channels];
    for (int c = 0; c < channels; ++c) sigma[c] = scene.sigma(c);
    const float h = strength(scene.params, joint_sigma(sigma, channels));
    const int side = 2 * scene.params.patch_radius + 1;
    constexpr float log2_e = 1.44269504f;
    const float per_level = log2_e / (h * h);
    scale = per_level / static_cast<float>(side * side * channels);
    offset = per_level * 2.f * scene.params.sigma * scene.params.sigma;
    exclude_own = scene.params.centre_weight == CentreWeight::max;
  }
  __device__ float operator()(float ssd) const { return exp2(fminf(fmaf(ssd, -scale, offset), 0.f)); }

  /// The same with the exponent's fraction rounded on its own. Without the pixel itself all weights of a
  /// window may be near 2^-60; in one float such an exponent is off by 2^-19, which moves a mean of
  /// differences of 100 levels by more than 1e-4.
  __device__ float precise(float ssd) const {
    const float whole = rintf(fminf(fmaf(ssd, -scale, offset), 0.f));
    const float fraction = fminf(fmaf(ssd, -scale, -whole) + offset, -whole);
    return exp2(fraction) * exp2(whole);
  }

 private:
  static __device__ float exp2(float exponent) {
    float w;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(exponent));
    return w;
  }
};

/// All threads of a block bring a tile of frame `f` into shared memory, in levels.
template <int C>
__device__ void load_frame(const Scene& scene, int f, const cuda::Tile& tile) {
  cuda::select_pixels<C>(scene.job.in.group.type, scene.layout, [&]<class P>() {
    cuda::load_tile<P>(scene.frame[f], tile, 1.f, static_cast<int>(threadIdx.x),
                       static_cast<int>(blockDim.x));
  });
}

/// Enqueue the filter; false where the implementation cannot take these radii, formats or this device.
bool run_direct(const CudaJob& job, const Params& p);
bool run_box(const CudaJob& job, const Params& p);
bool run_packed(const CudaJob& job, const Params& p);

/// Largest dynamic shared memory of a block on the current device.
std::size_t shared_bytes_per_block();

}  // namespace quietframe::nlm
