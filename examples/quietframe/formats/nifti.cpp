// NIfTI through nifticlib: the middle slice of the first volume, its values as they are meant; only read.
#include <nifti2_io.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli::nifti {
namespace {

constexpr std::size_t header_bytes = sizeof(nifti_2_header);  // the longer one
constexpr std::uint64_t max_volume = std::uint64_t{1} << 32;  // more is taken for damage

bool is_gzip(Bytes b) { return head_text(b, 2) == "\x1f\x8b"; }

// The first bytes of what a gzip file holds, as many as there are up to `most`; a damaged file ends early.
std::vector<std::byte> unpack(Bytes file, std::size_t most) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 16) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&z, inflateEnd);
  std::vector<std::byte> out;
  constexpr std::size_t piece = std::size_t{1}
                                << 20;  // so that a size that only a damaged header claims costs nothing
  auto* next =
      reinterpret_cast<Bytef*>(const_cast<std::byte*>(file.data()));  // NOLINT: zlib's field, only read
  std::size_t left = file.size();
  while (out.size() < most) {
    const std::size_t had = out.size(), room = std::min(piece, most - had), given = std::min(left, piece);
    out.resize(had + room);
    z.next_in = next;
    z.avail_in = static_cast<uInt>(given);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    z.avail_out = static_cast<uInt>(room);
    const int state = inflate(&z, Z_NO_FLUSH);
    next += given - z.avail_in;
    left -= given - z.avail_in;
    out.resize(had + room - z.avail_out);
    const bool next_member = state == Z_STREAM_END && left > 0 && inflateReset(&z) == Z_OK;
    if (!next_member && (state != Z_OK || (out.size() == had && z.avail_in == given))) break;
  }
  return out;
}

// Calls f with a value of the type that the voxels have; false where that is none that can be read.
template <class F>
bool with_voxel(int datatype, F&& f) {
  switch (datatype) {
    case NIFTI_TYPE_UINT8:
      return f(std::uint8_t{}), true;
    case NIFTI_TYPE_INT8:
      return f(std::int8_t{}), true;
    case NIFTI_TYPE_UINT16:
      return f(std::uint16_t{}), true;
    case NIFTI_TYPE_INT16:
      return f(std::int16_t{}), true;
    case NIFTI_TYPE_UINT32:
      return f(std::uint32_t{}), true;
    case NIFTI_TYPE_INT32:
      return f(std::int32_t{}), true;
    case NIFTI_TYPE_UINT64:
      return f(std::uint64_t{}), true;
    case NIFTI_TYPE_INT64:
      return f(std::int64_t{}), true;
    case NIFTI_TYPE_FLOAT32:
      return f(float{}), true;
    case NIFTI_TYPE_FLOAT64:
      return f(double{}), true;
    default:
      return false;
  }
}

int colour_channels(int datatype) {
  return datatype == NIFTI_TYPE_RGB24 ? 3 : datatype == NIFTI_TYPE_RGBA32 ? 4 : 0;
}

void check_has(Bytes file, std::size_t header) {
  if (file.size() < header) throw FileError("is a truncated NIfTI: it ends inside its header");
}

struct FreeImage {
  void operator()(nifti_image* image) const { nifti_image_free(image); }
};
using Image = std::unique_ptr<nifti_image, FreeImage>;

// nifticlib prints what it finds wrong, so that is found before it is asked.
template <class Header>
Image convert(Bytes file, int version, int (*looks_good)(const Header*),
              nifti_image* (*to_image)(Header, const char*)) {
  Header header;
  check_has(file, sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  auto swapped = header;
  if (header.sizeof_hdr != static_cast<int>(sizeof header)) swap_nifti_header(&swapped, version);
  if (colour_channels(swapped.datatype) == 0 && !with_voxel(swapped.datatype, [](auto) {}))
    throw FileError(fmt::format(
        "is a NIfTI of datatype {} ({}), which is not supported: make it FLOAT32, for instance with nibabel",
        swapped.datatype, nifti_datatype_string(swapped.datatype)));
  if (!looks_good(&swapped)) throw FileError("is a damaged NIfTI: its header makes no sense");
  Image image(to_image(header, nullptr));
  if (!image) throw FileError("is a damaged NIfTI: its header makes no sense");
  return image;
}

Image read_header(Bytes file) {
  nifti_set_debug_level(0);
  check_has(file, sizeof(nifti_1_header));
  const auto version = nifti_header_version(reinterpret_cast<const char*>(file.data()), file.size());
  if (version == 1) return convert<nifti_1_header>(file, 1, nifti_hdr1_looks_good, nifti_convert_n1hdr2nim);
  if (version == 2) return convert<nifti_2_header>(file, 2, nifti_hdr2_looks_good, nifti_convert_n2hdr2nim);
  throw FileError("is a damaged NIfTI: its header makes no sense");
}

/// The voxels of the first volume.
struct Volume {
  int width, height;
  std::size_t count, slice_begin;  ///< in voxels
  double slope, inter;
  bool swapped;
  const std::byte* voxels;
};

template <class T>
double value_at(const Volume& v, std::size_t i) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, v.voxels + i * sizeof(T), sizeof(T));
  if (v.swapped) std::reverse(bytes, bytes + sizeof(T));
  T stored;
  std::memcpy(&stored, bytes, sizeof stored);
  return static_cast<double>(stored) * v.slope + v.inter;
}

struct Range {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
};

template <class T>
Range range_of(const Volume& v) {
  Range range;
  for (std::size_t i = 0; i < v.count; ++i) {
    const double value = value_at<T>(v, i);
    if (!std::isfinite(value)) continue;
    range.least = std::min(range.least, value);
    range.greatest = std::max(range.greatest, value);
  }
  return range.least <= range.greatest ? range : Range{0, 0};
}

bool is_whole(double v) { return std::trunc(v) == v; }

// Integers are kept in the fewest bits, at least 8, that hold the whole volume: white does not change from
// slice to slice, and hardly with the noise.
Picture integers(const Volume& v, const Range& range, auto type) {
  const auto bits_for = [](double magnitude) { return std::bit_width(static_cast<unsigned>(magnitude)); };
  const bool is_signed = range.least < 0;
  const int bits = std::max<int>(
      8, is_signed ? 1 + std::max(bits_for(-1 - range.least), bits_for(std::max(range.greatest, 0.0)))
                   : bits_for(range.greatest));
  const double offset = is_signed ? 1U << (bits - 1) : 0;
  Picture p{v.width, v.height, 1, (1 << bits) - 1, {}, {}};
  p.allocate();
  const std::size_t bytes = p.sample_bytes() == 1 ? 1 : 2;
  for (std::size_t i = 0; i < p.samples(); ++i) {
    const auto code = static_cast<std::uint16_t>(value_at<decltype(type)>(v, v.slice_begin + i) + offset);
    std::memcpy(p.data.data() + i * bytes, &code, bytes);
  }
  return p;
}

// Other values are divided by the least power of two that is not below them, which rounds nothing.
Picture reals(const Volume& v, const Range& range, auto type) {
  int exponent = 0;
  const double most = range.greatest > 0 ? range.greatest : -range.least;
  if (most > 0 && std::frexp(most, &exponent) == 0.5) --exponent;
  Picture p{v.width, v.height, 1, 0, {}, {}};
  p.allocate();
  for (std::size_t i = 0; i < p.samples(); ++i) {
    const double value = value_at<decltype(type)>(v, v.slice_begin + i);
    const auto sample = std::isfinite(value) ? static_cast<float>(std::ldexp(value, -exponent)) : 0.f;
    std::memcpy(p.data.data() + i * sizeof sample, &sample, sizeof sample);
  }
  return p;
}

Picture gray(const Volume& v, int datatype) {
  Picture picture;
  with_voxel(datatype, [&](auto type) {
    const auto range = range_of<decltype(type)>(v);
    const bool whole = std::is_integral_v<decltype(type)> && is_whole(v.slope) && is_whole(v.inter);
    const bool fits =
        range.least < 0 ? range.least >= -32768 && range.greatest <= 32767 : range.greatest <= 65535;
    picture = whole && fits ? integers(v, range, type) : reals(v, range, type);
  });
  return picture;
}

Picture colour(const Volume& v, int channels) {
  Picture p{v.width, v.height, channels, 255, {}, {}};
  p.allocate();
  std::memcpy(p.data.data(), v.voxels + v.slice_begin * static_cast<std::size_t>(channels), p.data.size());
  return p;
}

Picture middle_slice(const nifti_image& image, Bytes file) {
  const auto size = [](std::int64_t n) { return static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)); };
  const auto slices = size(image.nz);
  Volume v{static_cast<int>(image.nx),
           static_cast<int>(image.ny),
           0,
           0,
           image.scl_slope,
           image.scl_inter,
           image.byteorder != nifti_short_order(),
           nullptr};
  const auto slice = static_cast<std::size_t>(v.width) * static_cast<std::size_t>(v.height);
  v.count = slice * slices;
  v.slice_begin = slice * (slices / 2);
  if (v.slope == 0 || !std::isfinite(v.slope) || !std::isfinite(v.inter)) v.slope = 1, v.inter = 0;
  const auto offset = static_cast<std::size_t>(image.iname_offset);
  const auto bytes = v.count * static_cast<std::size_t>(image.nbyper);
  if (file.size() < offset || file.size() - offset < bytes)
    throw FileError(fmt::format("is a truncated NIfTI: {} of the {} bytes of its first volume are there",
                                file.size() < offset ? 0 : file.size() - offset, bytes));
  v.voxels = file.data() + offset;
  const int channels = colour_channels(image.datatype);
  return channels ? colour(v, channels) : gray(v, image.datatype);
}

std::size_t end_of_first_volume(const nifti_image& image) {
  const auto positive = [](std::int64_t n) { return n > 0 ? static_cast<std::uint64_t>(n) : 1; };
  check_size(positive(image.nx), positive(image.ny));
  const auto slices = positive(image.nz);
  if (slices > max_volume ||
      positive(image.nx) * positive(image.ny) > max_volume / slices / static_cast<unsigned>(image.nbyper))
    throw FileError(fmt::format("is a NIfTI of {}x{}x{} voxels; more than 4 GiB are taken for damage",
                                image.nx, image.ny, image.nz));
  if (image.iname_offset < 0) throw FileError("is a damaged NIfTI: its voxels begin before it does");
  return static_cast<std::size_t>(image.iname_offset) +
         positive(image.nx) * positive(image.ny) * slices * static_cast<std::size_t>(image.nbyper);
}

}  // namespace

bool matches(Bytes file) { return is_gzip(file) ? is_header(unpack(file, header_bytes)) : is_header(file); }

Picture decode(Bytes file) {
  const bool packed = is_gzip(file);
  const auto head = packed ? unpack(file, header_bytes) : std::vector<std::byte>();
  const auto image = read_header(packed ? Bytes(head) : file);
  if (image->nifti_type != NIFTI_FTYPE_NIFTI1_1 && image->nifti_type != NIFTI_FTYPE_NIFTI2_1)
    throw FileError(
        "is the header of a NIfTI in two files (.hdr and .img): make it one .nii, for instance with nibabel");
  const auto end = end_of_first_volume(*image);
  const auto unpacked = packed ? unpack(file, end) : std::vector<std::byte>();
  return middle_slice(*image, packed ? Bytes(unpacked) : file);
}

}  // namespace quietframe::cli::nifti
