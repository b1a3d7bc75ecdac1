// PNG through libpng, from and to memory.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli::png {
namespace {

// libpng reports failure by longjmp: what it jumps over must have nothing to destroy, so everything that owns
// memory lives here, outside of the functions that call setjmp.
struct Reader {
  Bytes rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string error;
  Picture picture;
  std::vector<png_bytep> rows;

  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct Writer {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string error;
  std::vector<std::byte> out;

  ~Writer() { png_destroy_write_struct(&png, &info); }
};

void on_error(png_structp png, png_const_charp message) {
  *static_cast<std::string*>(png_get_error_ptr(png)) = message;
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, std::size_t n) {
  auto& rest = static_cast<Reader*>(png_get_io_ptr(png))->rest;
  if (n > rest.size()) png_error(png, "the file is cut short");
  std::memcpy(to, rest.data(), n);
  rest = rest.subspan(n);
}

void write_bytes(png_structp png, png_bytep from, std::size_t n) {
  auto& out = static_cast<Writer*>(png_get_io_ptr(png))->out;
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  out.insert(out.end(), bytes, bytes + n);
}

void flush_bytes(png_structp) {}

bool read_header(Reader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_read_fn(r.png, &r, read_bytes);
  png_set_user_limits(r.png, max_side, max_side);
  png_read_info(r.png, r.info);
  png_set_expand(r.png);  // palette to RGB, tRNS to alpha, 1, 2 and 4 bits to 8
  if (png_get_bit_depth(r.png, r.info) == 16) png_set_swap(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_rows(Reader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_image(r.png, r.rows.data());
  png_read_end(r.png, nullptr);
  return true;
}

bool write_all(Writer& w, const Picture& p) {
  constexpr int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                           PNG_COLOR_TYPE_RGBA};
  if (setjmp(png_jmpbuf(w.png))) return false;
  png_set_write_fn(w.png, &w, write_bytes, flush_bytes);
  png_set_user_limits(w.png, max_side, max_side);
  png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(p.width), static_cast<png_uint_32>(p.height),
               8 * p.sample_bytes(), types[p.channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!p.icc.empty())
    png_set_iCCP(w.png, w.info, "profile", PNG_COMPRESSION_TYPE_BASE,
                 reinterpret_cast<png_const_bytep>(p.icc.data()), static_cast<png_uint_32>(p.icc.size()));
  png_write_info(w.png, w.info);
  if (p.sample_bytes() == 2) png_set_swap(w.png);
  for (int y = 0; y < p.height; ++y) png_write_row(w.png, reinterpret_cast<png_const_bytep>(p.row(y)));
  png_write_end(w.png, nullptr);
  return true;
}

// Deflate shrinks at most 1032 times: a header that promises more is damaged, and must not cost memory.
void check_plausible(const Picture& p, std::size_t file_bytes) {
  if (p.samples() / 8 / 1032 > file_bytes)
    throw FileError(
        fmt::format("is a damaged PNG: {}x{} pixels cannot be in {} bytes", p.width, p.height, file_bytes));
}

void keep_profile(Reader& r) {
  png_charp name = nullptr;
  png_bytep profile = nullptr;
  png_uint_32 size = 0;
  int compression = 0;
  if (png_get_iCCP(r.png, r.info, &name, &compression, &profile, &size))
    r.picture.icc.assign(reinterpret_cast<std::byte*>(profile), reinterpret_cast<std::byte*>(profile) + size);
}

}  // namespace

Picture decode(Bytes file) {
  Reader r;
  r.rest = file;
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r.error, on_error, on_warning);
  if (r.png) r.info = png_create_info_struct(r.png);
  if (!r.info) throw std::bad_alloc();
  if (!read_header(r)) throw FileError("is a damaged PNG: " + r.error);
  auto& p = r.picture;
  check_size(png_get_image_width(r.png, r.info), png_get_image_height(r.png, r.info));
  p.width = static_cast<int>(png_get_image_width(r.png, r.info));
  p.height = static_cast<int>(png_get_image_height(r.png, r.info));
  p.channels = png_get_channels(r.png, r.info);
  p.max_code = png_get_bit_depth(r.png, r.info) == 16 ? 65535 : 255;
  check_plausible(p, file.size());
  p.allocate();
  if (png_get_rowbytes(r.png, r.info) != p.row_bytes())
    throw FileError("is a PNG of a kind that libpng cannot expand");
  keep_profile(r);
  for (int y = 0; y < p.height; ++y) r.rows.push_back(reinterpret_cast<png_bytep>(p.row(y)));
  if (!read_rows(r)) throw FileError("is a damaged PNG: " + r.error);
  return std::move(r.picture);
}

std::vector<std::byte> encode(const Picture& picture, std::string_view) {
  if (picture.is_float())
    throw FileError(
        "has float samples, which PNG cannot hold: write .pfm or .tif, or choose a depth with --depth");
  const bool fits = picture.max_code == 255 || picture.max_code == 65535;
  const Picture scaled = fits ? Picture{} : with_max_code(picture, picture.max_code < 255 ? 255 : 65535);
  Writer w;
  w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w.error, on_error, on_warning);
  if (w.png) w.info = png_create_info_struct(w.png);
  if (!w.info) throw std::bad_alloc();
  if (!write_all(w, fits ? picture : scaled)) throw FileError("cannot be written as PNG: " + w.error);
  return std::move(w.out);
}

}  // namespace quietframe::cli::png
