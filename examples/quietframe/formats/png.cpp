// PNG through libpng, from and to memory.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <iterator>
#include <span>
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
  std::vector<png_unknown_chunk> chunks;  ///< views of the picture's

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

// Chunks that go from one PNG to another as they are, and the length that the specification gives them (0:
// any). libpng's own setters would re-write what they hold; iCCP alone goes through them, since other formats
// have profiles too.
struct KeptChunk {
  char name[5];
  std::size_t bytes;
};
constexpr KeptChunk kept[] = {{"gAMA", 4}, {"cHRM", 32}, {"sRGB", 1}, {"pHYs", 9},
                              {"tEXt", 0}, {"zTXt", 0},  {"iTXt", 0}, {"eXIf", 0}};

void name_kept_chunks(png_structp png) {
  png_byte names[5 * std::size(kept)];
  for (std::size_t i = 0; i < std::size(kept); ++i) std::memcpy(names + 5 * i, kept[i].name, 5);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, names, static_cast<int>(std::size(kept)));
}

bool read_header(Reader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_read_fn(r.png, &r, read_bytes);
  png_set_user_limits(r.png, max_side, max_side);
  name_kept_chunks(r.png);
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
  png_read_end(r.png, r.info);
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
  const auto& icc = p.carried.icc;
  png_set_benign_errors(w.png, 1);  // a profile that libpng finds wrong is left out, not the picture
  if (!icc.empty())
    png_set_iCCP(w.png, w.info, "profile", PNG_COMPRESSION_TYPE_BASE,
                 reinterpret_cast<png_const_bytep>(icc.data()), static_cast<png_uint_32>(icc.size()));
  name_kept_chunks(w.png);
  png_set_unknown_chunks(w.png, w.info, w.chunks.data(), static_cast<int>(w.chunks.size()));
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
    r.picture.carried.icc.assign(reinterpret_cast<std::byte*>(profile),
                                 reinterpret_cast<std::byte*>(profile) + size);
}

void keep_chunks(Reader& r) {
  png_unknown_chunkp found = nullptr;
  const int count = png_get_unknown_chunks(r.png, r.info, &found);
  for (const auto& chunk : std::span(found, static_cast<std::size_t>(std::max(count, 0)))) {
    const auto* row = std::ranges::find_if(
        kept, [&](const KeptChunk& k) { return std::memcmp(k.name, chunk.name, 5) == 0; });
    if (row == std::end(kept) || (row->bytes != 0 && row->bytes != chunk.size)) continue;
    auto& mine = r.picture.carried.chunks.emplace_back();
    std::memcpy(mine.name.data(), chunk.name, 5);
    mine.data.assign(reinterpret_cast<std::byte*>(chunk.data),
                     reinterpret_cast<std::byte*>(chunk.data) + chunk.size);
  }
}

// Views of the chunks for libpng, which copies them. A profile rules out sRGB, which says another thing.
void view_chunks(const Carried& carried, std::vector<png_unknown_chunk>& views) {
  for (const auto& chunk : carried.chunks) {
    if (!carried.icc.empty() && std::strcmp(chunk.name.data(), "sRGB") == 0) continue;
    auto& view = views.emplace_back();
    std::memcpy(view.name, chunk.name.data(), 5);
    view.data = reinterpret_cast<png_bytep>(const_cast<std::byte*>(chunk.data.data()));
    view.size = chunk.data.size();
    view.location = PNG_HAVE_IHDR;
  }
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
  keep_chunks(r);
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
  view_chunks(picture.carried, w.chunks);
  if (!write_all(w, fits ? picture : scaled)) throw FileError("cannot be written as PNG: " + w.error);
  return std::move(w.out);
}

}  // namespace quietframe::cli::png
