// TIFF through libtiff, from and to memory.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli::tiff {
namespace {

// A file in memory, as libtiff's callbacks see it.
struct Stream {
  std::vector<std::byte> owned;  ///< when writing
  Bytes bytes;                   ///< when reading
  std::size_t position = 0;
  bool writing = false;
  std::string error;

  std::size_t size() const { return writing ? owned.size() : bytes.size(); }
};

Stream& stream_of(thandle_t handle) { return *static_cast<Stream*>(handle); }

tmsize_t read_some(thandle_t handle, void* to, tmsize_t n) {
  auto& s = stream_of(handle);
  if (n < 0 || s.position >= s.size()) return 0;
  const auto count = std::min(static_cast<std::size_t>(n), s.size() - s.position);
  std::memcpy(to, (s.writing ? s.owned.data() : s.bytes.data()) + s.position, count);
  s.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_some(thandle_t handle, void* from, tmsize_t n) {
  auto& s = stream_of(handle);
  if (!s.writing || n < 0) return 0;
  const auto count = static_cast<std::size_t>(n);
  if (s.position + count > s.owned.size()) s.owned.resize(s.position + count);
  std::memcpy(s.owned.data() + s.position, from, count);
  s.position += count;
  return n;
}

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& s = stream_of(handle);
  s.position = static_cast<std::size_t>(offset) + (whence == SEEK_CUR   ? s.position
                                                   : whence == SEEK_END ? s.size()
                                                                        : std::size_t{0});
  return s.position;
}

int close_stream(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return stream_of(handle).size(); }

int keep_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  auto& error = static_cast<Stream*>(user)->error;
  if (error.empty()) error = text;
  return 1;
}

int ignore_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* t) const { TIFFClose(t); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

Tiff open(Stream& stream, const char* mode) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &stream);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), tmsize_t{1} << 32);
  return Tiff(TIFFClientOpenExt("memory", mode, &stream, read_some, write_some, seek, close_stream, size_of,
                                nullptr, nullptr, options.get()));
}

template <class T>
T field(TIFF* t, std::uint32_t tag, T otherwise) {
  T value{};
  return TIFFGetFieldDefaulted(t, tag, &value) ? value : otherwise;
}

[[noreturn]] void damaged(const Stream& s) {
  throw FileError("is a damaged TIFF: " + (s.error.empty() ? "it cannot be decoded" : s.error));
}

struct Layout {
  int bits, samples, photometric, planar, sample_format;
  bool tiled, alpha;
};

Layout layout_of(TIFF* t) {
  Layout l{};
  l.bits = field<std::uint16_t>(t, TIFFTAG_BITSPERSAMPLE, 1);
  l.samples = field<std::uint16_t>(t, TIFFTAG_SAMPLESPERPIXEL, 1);
  l.photometric = field<std::uint16_t>(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  l.planar = field<std::uint16_t>(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  l.sample_format = field<std::uint16_t>(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  l.tiled = TIFFIsTiled(t) != 0;
  l.alpha = l.samples % 2 == 0;
  return l;
}

// Samples that can be taken as they stand.
bool is_plain(const Layout& l) {
  const bool gray = l.photometric == PHOTOMETRIC_MINISBLACK || l.photometric == PHOTOMETRIC_MINISWHITE;
  const bool colours =
      (gray && l.samples <= 2) || (l.photometric == PHOTOMETRIC_RGB && (l.samples == 3 || l.samples == 4));
  const bool integer = l.sample_format == SAMPLEFORMAT_UINT && (l.bits == 8 || l.bits == 16);
  const bool real =
      l.sample_format == SAMPLEFORMAT_IEEEFP && l.bits == 32 && l.photometric != PHOTOMETRIC_MINISWHITE;
  return colours && (integer || real);
}

// Puts a block of decoded samples (`width` x `height`, `block_width` wide in memory) into channels first.. of
// p.
void place(Picture& p, const std::byte* block, int x0, int y0, int block_width, int width, int height,
           int first, int channels) {
  const auto sample = static_cast<std::size_t>(p.sample_bytes()),
             unit = sample * static_cast<std::size_t>(channels);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      std::memcpy(p.row(y0 + y) + (static_cast<std::size_t>(x0 + x) * static_cast<std::size_t>(p.channels) +
                                   static_cast<std::size_t>(first)) *
                                      sample,
                  block + (static_cast<std::size_t>(y) * static_cast<std::size_t>(block_width) +
                           static_cast<std::size_t>(x)) *
                              unit,
                  unit);
}

void read_tiles(TIFF* t, const Layout& l, Picture& p, const Stream& s) {
  const auto tw = field<std::uint32_t>(t, TIFFTAG_TILEWIDTH, 0),
             th = field<std::uint32_t>(t, TIFFTAG_TILELENGTH, 0);
  if (tw < 1 || th < 1 || tw > 65536 || th > 65536) damaged(s);
  const bool separate = l.planar == PLANARCONFIG_SEPARATE;
  const int channels = separate ? 1 : l.samples;
  const auto bytes =
      static_cast<std::size_t>(tw) * th * static_cast<std::size_t>(channels * p.sample_bytes());
  if (TIFFTileSize(t) != static_cast<tmsize_t>(bytes)) damaged(s);
  std::vector<std::byte> block(bytes);
  for (int plane = 0; plane < (separate ? l.samples : 1); ++plane)
    for (int y = 0; y < p.height; y += static_cast<int>(th))
      for (int x = 0; x < p.width; x += static_cast<int>(tw)) {
        if (TIFFReadTile(t, block.data(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0,
                         static_cast<std::uint16_t>(plane)) < 0)
          damaged(s);
        place(p, block.data(), x, y, static_cast<int>(tw), std::min(static_cast<int>(tw), p.width - x),
              std::min(static_cast<int>(th), p.height - y), plane, channels);
      }
}

void read_rows(TIFF* t, const Layout& l, Picture& p, const Stream& s) {
  const bool separate = l.planar == PLANARCONFIG_SEPARATE;
  const int channels = separate ? 1 : l.samples;
  std::vector<std::byte> row(static_cast<std::size_t>(p.width) *
                             static_cast<std::size_t>(channels * p.sample_bytes()));
  if (TIFFScanlineSize(t) != static_cast<tmsize_t>(row.size())) damaged(s);
  for (int plane = 0; plane < (separate ? l.samples : 1); ++plane)
    for (int y = 0; y < p.height; ++y) {
      if (TIFFReadScanline(t, row.data(), static_cast<std::uint32_t>(y), static_cast<std::uint16_t>(plane)) <
          0)
        damaged(s);
      place(p, row.data(), 0, y, p.width, p.width, 1, plane, channels);
    }
}

void invert(Picture& p) {
  for (std::size_t i = 0; i < p.samples(); i += static_cast<std::size_t>(p.channels)) {
    std::byte* sample = p.data.data() + i * static_cast<std::size_t>(p.sample_bytes());
    for (int b = 0; b < p.sample_bytes(); ++b) sample[b] = ~sample[b];
  }
}

// What libtiff can show but not hand out: paletted, bilevel, YCbCr and the like, as 8-bit RGB with alpha.
void read_shown(TIFF* t, Picture& p, const Stream& s) {
  std::vector<std::uint32_t> pixels(static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height));
  if (!TIFFReadRGBAImageOriented(t, static_cast<std::uint32_t>(p.width), static_cast<std::uint32_t>(p.height),
                                 pixels.data(), ORIENTATION_TOPLEFT, 1))
    damaged(s);
  const bool gray = field<std::uint16_t>(t, TIFFTAG_PHOTOMETRIC, 0) <= PHOTOMETRIC_MINISBLACK;
  p.channels = gray ? 1 : 3;
  p.max_code = 255;
  p.allocate();
  for (std::size_t i = 0; i < pixels.size(); ++i)
    for (int c = 0; c < p.channels; ++c)
      p.data[i * static_cast<std::size_t>(p.channels) + static_cast<std::size_t>(c)] =
          static_cast<std::byte>(pixels[i] >> (8 * c) & 0xff);
}

void keep_profile(TIFF* t, Picture& p) {
  std::uint32_t size = 0;
  const std::byte* profile = nullptr;
  if (TIFFGetField(t, TIFFTAG_ICCPROFILE, &size, &profile) && profile)
    p.carried.icc.assign(profile, profile + size);
}

void set_fields(TIFF* t, const Picture& p) {
  const int bits = 8 * p.sample_bytes();
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, p.width);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, p.height);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, p.channels);
  TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, p.is_float() ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, p.colours() == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  TIFFSetField(t, TIFFTAG_PREDICTOR, p.is_float() ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(t, 0));
  if (p.has_alpha()) {
    const std::uint16_t kind = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  if (!p.carried.icc.empty())
    TIFFSetField(t, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(p.carried.icc.size()),
                 p.carried.icc.data());
}

}  // namespace

Picture decode(Bytes file) {
  Stream stream;
  stream.bytes = file;
  const auto t = open(stream, "rm");
  if (!t) damaged(stream);
  if (!TIFFLastDirectory(t.get()))
    throw FileError("is a TIFF of several pictures: split it first, for instance with tiffsplit");
  const auto l = layout_of(t.get());
  Picture p;
  const auto width = field<std::uint32_t>(t.get(), TIFFTAG_IMAGEWIDTH, 0),
             height = field<std::uint32_t>(t.get(), TIFFTAG_IMAGELENGTH, 0);
  check_size(width, height);
  p.width = static_cast<int>(width);
  p.height = static_cast<int>(height);
  // The densest of libtiff's codecs pack runs of rows into a few bytes; past this, a header is lying.
  if (static_cast<std::size_t>(width) * height / 20000 > file.size()) damaged(stream);
  keep_profile(t.get(), p);
  if (!is_plain(l)) {
    if (l.bits > 8)
      throw FileError(
          fmt::format("is a TIFF with {} samples of {} bits of a kind that cannot be read without loss; "
                      "8 and 16 bits and 32-bit float gray and RGB can",
                      l.samples, l.bits));
    read_shown(t.get(), p, stream);
    return p;
  }
  p.channels = l.samples;
  p.max_code = l.sample_format == SAMPLEFORMAT_IEEEFP ? 0 : l.bits == 16 ? 65535 : 255;
  p.allocate();
  if (l.tiled)
    read_tiles(t.get(), l, p, stream);
  else
    read_rows(t.get(), l, p, stream);
  if (l.photometric == PHOTOMETRIC_MINISWHITE) invert(p);
  return p;
}

std::vector<std::byte> encode(const Picture& picture, std::string_view) {
  const bool fits = picture.is_float() || picture.max_code == 255 || picture.max_code == 65535;
  const Picture scaled = fits ? Picture{} : with_max_code(picture, picture.max_code < 255 ? 255 : 65535);
  const Picture& p = fits ? picture : scaled;
  Stream stream;
  stream.writing = true;
  auto t = open(stream, "w");
  if (!t) throw FileError("cannot be written as TIFF: " + stream.error);
  set_fields(t.get(), p);
  std::vector<std::byte> row(p.row_bytes());
  for (int y = 0; y < p.height; ++y) {
    std::memcpy(row.data(), p.row(y), row.size());  // the predictor works in place
    if (TIFFWriteScanline(t.get(), row.data(), static_cast<std::uint32_t>(y), 0) < 0)
      throw FileError("cannot be written as TIFF: " + stream.error);
  }
  t.reset();
  return std::move(stream.owned);
}

}  // namespace quietframe::cli::tiff
