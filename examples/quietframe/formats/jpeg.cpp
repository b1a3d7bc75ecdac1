// JPEG through libjpeg-turbo, from memory; only read, since writing it would add noise of its own.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <csetjmp>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli::jpeg {
namespace {

// As libpng, libjpeg reports failure by jumping: nothing between may own memory.
struct Reader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX]{};
  JOCTET* profile = nullptr;
  unsigned profile_bytes = 0;
  Picture picture;

  ~Reader() {
    std::free(profile);
    jpeg_destroy_decompress(&jpeg);
  }
};

void on_error(j_common_ptr jpeg) {
  auto* r = static_cast<Reader*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, r->message);
  std::longjmp(r->jump, 1);
}

// Warnings mean damaged data: a picture that is part gray must not pass for a whole one.
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0) on_error(jpeg);
}

bool read_header(Reader& r, Bytes file) {
  if (setjmp(r.jump)) return false;
  jpeg_create_decompress(&r.jpeg);
  jpeg_mem_src(&r.jpeg, reinterpret_cast<const unsigned char*>(file.data()),
               static_cast<unsigned long>(file.size()));
  jpeg_save_markers(&r.jpeg, JPEG_APP0 + 2, 0xffff);
  jpeg_read_header(&r.jpeg, TRUE);
  if (r.jpeg.num_components == 1 || r.jpeg.num_components == 3) {
    r.jpeg.out_color_space = r.jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    r.jpeg.dct_method = JDCT_ISLOW;
    jpeg_calc_output_dimensions(&r.jpeg);
  }
  return true;
}

// False where there is none, or it is damaged, which libjpeg warns of by jumping: the picture is not.
bool read_profile(Reader& r) {
  if (setjmp(r.jump)) return false;
  return jpeg_read_icc_profile(&r.jpeg, &r.profile, &r.profile_bytes);
}

bool read_rows(Reader& r) {
  if (setjmp(r.jump)) return false;
  jpeg_start_decompress(&r.jpeg);
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    auto* row = reinterpret_cast<JSAMPROW>(r.picture.row(static_cast<int>(r.jpeg.output_scanline)));
    jpeg_read_scanlines(&r.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

}  // namespace

Picture decode(Bytes file) {
  Reader r;
  r.jpeg.err = jpeg_std_error(&r.errors);
  r.errors.error_exit = on_error;
  r.errors.emit_message = on_message;
  r.jpeg.client_data = &r;
  if (!read_header(r, file)) throw FileError(fmt::format("is a damaged JPEG: {}", r.message));
  if (r.jpeg.num_components != 1 && r.jpeg.num_components != 3)
    throw FileError(
        fmt::format("is a JPEG of {} channels; gray and colour can be read", r.jpeg.num_components));
  check_size(r.jpeg.output_width, r.jpeg.output_height);
  r.picture = {static_cast<int>(r.jpeg.output_width),
               static_cast<int>(r.jpeg.output_height),
               r.jpeg.num_components,
               255,
               {},
               {}};
  r.picture.allocate();
  if (read_profile(r)) {
    const auto* profile = reinterpret_cast<const std::byte*>(r.profile);
    r.picture.carried.icc.assign(profile, profile + r.profile_bytes);
  }
  if (!read_rows(r)) throw FileError(fmt::format("is a damaged JPEG: {}", r.message));
  return std::move(r.picture);
}

}  // namespace quietframe::cli::jpeg
