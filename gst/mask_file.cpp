// Reads masks with libpng's simplified interface.
#include "mask_file.hpp"

#include <png.h>

#include "caps.hpp"
#include "processor.hpp"

namespace quietframe::gst {
namespace {

struct PngImage : png_image {
  // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject): png_image{} sets all to zero
  PngImage() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(this); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

}  // namespace

std::shared_ptr<const Mask> read_mask(const std::string& location) {
  auto fail = [&](const std::string& why) -> Error {
    return Error("The mask '" + location + "' cannot be used: " + why +
                 ". It has to be a PNG file of the frames' size, white where frames are filtered and black "
                 "where they pass untouched.");
  };
  PngImage image;
  if (!png_image_begin_read_from_file(&image, location.c_str())) throw fail(image.message);
  if (image.width > max_size || image.height > max_size)
    throw fail("it has " + std::to_string(image.width) + "x" + std::to_string(image.height) +
               " pixels, frames have at most " + std::to_string(max_size) + "x" + std::to_string(max_size));
  image.format = PNG_FORMAT_GRAY;
  auto mask = std::make_shared<Mask>();
  mask->width = static_cast<int>(image.width);
  mask->height = static_cast<int>(image.height);
  mask->pixels.resize(std::size_t{image.width} * image.height);
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&image, &black, mask->pixels.data(), mask->width, nullptr))
    throw fail(image.message);
  for (auto& pixel : mask->pixels) pixel = pixel >= 128 ? 255 : 0;
  return mask;
}

}  // namespace quietframe::gst
