// Synthetic noise and motion: seeded, and equal to the byte on every machine and number of threads.
#pragma once
#include <cstdint>

#include "image_view.hpp"
#include "param.hpp"

namespace quietframe {

class ThreadPool;

enum class NoiseModel : int { gaussian, rician, salt_pepper, speckle, poisson };

inline constexpr Choice noise_model_choices[] = {
    {"gaussian", "in + n, n normal with standard deviation strength"},
    {"rician", "sqrt((in + n1)^2 + n2^2), magnitude MRI; both parts have standard deviation strength"},
    {"salt-pepper", "a sample in 100 / strength becomes 0 or 255 with equal chance (strength in percent)"},
    {"speckle", "in (1 + n), standard deviation strength where the input is 255"},
    {"poisson",
     "photon counting, so much light that the standard deviation is strength where the input is 255"},
};

struct NoiseParams {
  NoiseModel model = NoiseModel::gaussian;
  float strength = 20.f;
};

inline constexpr ParamInfo noise_params[] = {
    QF_PARAM_ENUM(NoiseParams, model, "type", noise_model_choices, "Kind of noise"),
    QF_PARAM(NoiseParams, strength, "strength", "levels", 0, 255,
             "How much noise; percent of the samples for salt-pepper"),
};

/// Which noise: the sample at (x, y) of this stream is a pure function of these numbers, x and y.
struct NoiseStream {
  std::uint64_t seed = 1;
  std::uint32_t frame = 0;
  std::uint32_t channel = 0;  ///< 0..255
};

/// Adds noise to a plane in levels; views have one size and may be the same. The result is not clamped, as
/// storing clamps; negative input counts as 0 in the Poisson model.
void add_noise(const ImageView<const float>& in, const ImageView<float>& out, const NoiseParams& params,
               const NoiseStream& stream, ThreadPool& pool);

/// A rigid in-plane movement: the picture is turned about its centre, then shifted.
struct RigidMotion {
  double shift_x = 0, shift_y = 0;  ///< pixels, right and down
  double degrees = 0;               ///< clockwise on the screen
};

/// The movement of one frame: shifts uniform within +-max_shift pixels, the angle within +-max_degrees.
RigidMotion random_motion(double max_shift, double max_degrees, std::uint64_t seed, std::uint32_t frame);

/// Moves a plane: Catmull-Rom interpolation of 4x4 samples (exact where a sample falls on a sample), borders
/// replicated. `in` and `out` have one size and do not overlap.
void move_rigidly(const ImageView<const float>& in, const ImageView<float>& out, const RigidMotion& motion,
                  ThreadPool& pool);

}  // namespace quietframe
