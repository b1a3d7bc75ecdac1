// How two pictures differ, in the units of their format.
#pragma once
#include "picture.hpp"
#include "thread_pool.hpp"

namespace quietframe::cli {

struct Quality {
  double mse = 0;   ///< in codes of the reference; of float pictures, with white at 1
  double psnr = 0;  ///< dB
  double ssim = 0;  ///< NaN where a side is below 7 pixels
};

/// Measures the colour channels of `picture` against `reference`, alpha left out. A picture of another depth
/// is brought to the reference's first. Throws FileError unless sizes and numbers of colours agree.
Quality compare_pictures(const Picture& reference, const Picture& picture, ThreadPool& pool);

/// "31.14 dB, SSIM 0.8916".
std::string to_text(const Quality& q);

}  // namespace quietframe::cli
