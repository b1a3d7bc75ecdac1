// How close a picture is to its reference, and how good a region is without one.
#pragma once
#include "image_view.hpp"
#include "region.hpp"

namespace quietframe {

class ThreadPool;

/// Mean square difference of two planes of one size, in squared units of their samples; in double, and the
/// same on any number of threads. Planes may hold levels or integer codes: use codes where every digit
/// counts.
double mse(const ImageView<const float>& a, const ImageView<const float>& b, ThreadPool& pool);

/// 10 log10(data_range^2 / mse) in dB; infinite for mse 0. data_range is the largest possible difference: 255
/// for levels and 8-bit codes. Equals scikit-image's peak_signal_noise_ratio.
double psnr(double mse, double data_range);

/// Least width and height that ssim() takes.
inline constexpr int ssim_window = 7;

/// Mean structural similarity (Wang, Bovik, Sheikh & Simoncelli 2004) of two planes of one size, at least
/// 7x7: uniform 7x7 windows that lie wholly inside, sample (n - 1) covariance, K1 = 0.01, K2 = 0.03. Equals
/// the defaults of scikit-image's structural_similarity; of several channels, take the mean.
double ssim(const ImageView<const float>& a, const ImageView<const float>& b, double data_range,
            ThreadPool& pool);

/// Sample mean and variance (n) of the region, which lies inside the plane and is not empty.
struct RegionStats {
  double mean, variance;
};
RegionStats region_stats(const ImageView<const float>& plane, const Rect& region);

/// Contrast-to-noise ratio |mean_a - mean_b| / sqrt(variance_a + variance_b); infinite for two different
/// constants, 0 for equal ones.
double cnr(const RegionStats& a, const RegionStats& b);

/// Generalised contrast-to-noise ratio, 1 - the overlap of the two regions' histograms: 0 when they cannot be
/// told apart, 1 when a threshold parts them (Rodriguez-Molares et al. 2020). 256 bins over the range of the
/// samples of both.
double gcnr(const ImageView<const float>& plane, const Rect& a, const Rect& b);

/// Equivalent number of looks mean^2 / variance of a region that is flat but for noise; infinite if constant.
double enl(const RegionStats& region);

}  // namespace quietframe
