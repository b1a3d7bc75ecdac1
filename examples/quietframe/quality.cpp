// Measures of pictures.
#include "quality.hpp"

#include <fmt/format.h>

#include "errors.hpp"
#include "quality/metrics.hpp"

namespace quietframe::cli {

Quality compare_pictures(const Picture& reference, const Picture& picture, ThreadPool& pool) {
  if (reference.width != picture.width || reference.height != picture.height)
    throw FileError(fmt::format("is {}x{} and its reference {}x{} pixels: they cannot be compared",
                                picture.width, picture.height, reference.width, reference.height));
  if (reference.colours() != picture.colours())
    throw FileError(fmt::format("is {} and its reference {}: they cannot be compared",
                                picture.colours() == 1 ? "gray" : "in colour",
                                reference.colours() == 1 ? "gray" : "in colour"));
  const bool real = reference.is_float();
  const auto a = to_planes(reference, Unit::codes);
  const auto b =
      to_planes(real ? as_float(picture) : with_max_code(picture, reference.max_code), Unit::codes);
  const double range = real ? 1 : reference.max_code;
  Quality q;
  for (int c = 0; c < a.group.channels; ++c) {
    const auto p = as_const(a.group.channel[static_cast<std::size_t>(c)]),
               r = as_const(b.group.channel[static_cast<std::size_t>(c)]);
    q.mse += mse(p, r, pool) / a.group.channels;
    q.ssim += ssim(p, r, range, pool) / a.group.channels;
  }
  q.psnr = psnr(q.mse, range);
  return q;
}

std::string to_text(const Quality& q) { return fmt::format("{:.2f} dB, SSIM {:.4f}", q.psnr, q.ssim); }

}  // namespace quietframe::cli
