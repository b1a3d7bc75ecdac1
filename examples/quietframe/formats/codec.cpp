// Which format a file has, and reading and writing whole files.
#include "formats/codec.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "errors.hpp"

namespace quietframe::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view png_magic = "\x89PNG\r\n\x1a\n";

bool is_png(Bytes b) { return head_text(b, png_magic.size()) == png_magic; }

bool is_dicom(Bytes b) { return b.size() >= 132 && head_text(b.subspan(128), 4) == "DICM"; }

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_tiff(Bytes b) {
  if (is_dicom(b)) return false;  // whose preamble may be a TIFF header
  const auto t = head_text(b, 4);
  using namespace std::string_view_literals;
  return t == "II*\0"sv || t == "MM\0*"sv || t == "II+\0"sv || t == "MM\0+"sv;
}

bool is_jpeg(Bytes b) { return head_text(b, 3) == "\xff\xd8\xff"; }

bool is_gzip(Bytes b) { return head_text(b, 2) == "\x1f\x8b"; }

#ifdef QF_HAVE_TIFF
constexpr Codec tiff_row = {"TIFF",
                            "tif tiff",
                            "read and written: gray and RGB, with alpha or not, 8 and 16 bits and float; "
                            "paletted, bilevel and YCbCr files are read",
                            is_tiff,
                            tiff::decode,
                            tiff::encode};
#else
constexpr Codec tiff_row = {"TIFF",  "tif tiff", "not in this build, which was made without libtiff",
                            is_tiff, nullptr,    nullptr};
#endif
#ifdef QF_HAVE_JPEG
constexpr Codec jpeg_row = {
    "JPEG",  "jpg jpeg",   "read: gray and colour (written as PNG, which adds no noise of its own)",
    is_jpeg, jpeg::decode, nullptr};
#else
constexpr Codec jpeg_row = {"JPEG",  "jpg jpeg", "not in this build, which was made without libjpeg-turbo",
                            is_jpeg, nullptr,    nullptr};
#endif
#ifdef QF_HAVE_DICOM
constexpr Codec dicom_row = {"DICOM",
                             "dcm",
                             "read: one frame, gray and colour of 8 and 16 bits; stored values, without "
                             "rescaling or windows, the least of signed ones at 0 (written as PNG)",
                             is_dicom,
                             dicom::decode,
                             nullptr};
#else
constexpr Codec dicom_row = {"DICOM",  "dcm",   "not in this build, which was made without DCMTK",
                             is_dicom, nullptr, nullptr};
#endif

#ifdef QF_HAVE_NIFTI
#ifdef QF_HAVE_TIFF
constexpr auto nifti_output = ".tif";  // which holds float
#else
constexpr auto nifti_output = ".png";
#endif
constexpr Codec nifti_row = {"NIfTI",
                             "nii nii.gz",
                             "read: the middle slice (third axis) of the first volume, its rows as they are "
                             "stored; values are scaled by "
                             "scl_slope and scl_inter. Whole values of up to 16 bits are kept in the fewest "
                             "bits, at least 8, that hold the "
                             "volume, the least of signed ones at 0; others are float, divided by the least "
                             "power of two that is not below "
                             "the volume's greatest. RGB24 and RGBA32 are colour (written as TIFF)",
                             nifti::matches,
                             nifti::decode,
                             nullptr,
                             nifti_output};
#else
constexpr Codec nifti_row = {
    "NIfTI",          "nii nii.gz", "not in this build, which was made without nifticlib",
    nifti::is_header, nullptr,      nullptr};
#endif

constexpr Codec codecs[] = {
    {"PNG", "png",
     "read and written: gray, RGB and alpha of 8 and 16 bits; paletted and interlaced files are read, "
     "transparent colours (tRNS) become alpha. iCCP, sRGB, gAMA, cHRM, pHYs, tEXt, zTXt, iTXt and eXIf are "
     "kept and not applied: samples are filtered as they are stored",
     is_png, png::decode, png::encode},
    {"PNM", "pbm pgm ppm pnm pam",
     "read and written: binary and ASCII, any maxval from 1 to 65535; PAM with alpha",
     [](Bytes b) { return pnm::matches(b); }, pnm::decode, pnm::encode},
    {"PFM", "pfm", "read and written: float gray and RGB, white at 1", [](Bytes) { return false; }, nullptr,
     pnm::encode},
    tiff_row,
    jpeg_row,
    dicom_row,
    nifti_row,
    {"gzip", "gz", "not supported; unpack it first", is_gzip, nullptr, nullptr},
};

std::string lower_extension(const fs::path& path) {
  auto e = full_extension(path);
  if (!e.empty()) e.erase(0, 1);
  return lower(e);
}

bool has_extension(const Codec& codec, std::string_view extension) {
  std::string_view list = codec.extensions;
  while (!extension.empty() && !list.empty()) {
    const auto space = std::min(list.find(' '), list.size());
    if (list.substr(0, space) == extension) return true;
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return false;
}

const Codec* by_extension(const fs::path& path) {
  const auto e = lower_extension(path);
  const auto* it = std::ranges::find_if(codecs, [&](const Codec& c) { return has_extension(c, e); });
  return it == std::end(codecs) ? nullptr : it;
}

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

namespace nifti {
bool is_header(Bytes b) {
  const auto magic_at = [&](std::size_t at) { return b.size() < at + 3 ? "" : head_text(b.subspan(at), 3); };
  return magic_at(344) == "n+1" || magic_at(344) == "ni1" || magic_at(4) == "n+2" || magic_at(4) == "ni2";
}
}  // namespace nifti

std::span<const Codec> all_codecs() { return codecs; }

std::vector<std::byte> read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw FileError("is a folder, not a file");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw FileError(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::vector<std::byte> bytes;
  std::byte block[65536];
  for (std::size_t n; (n = std::fread(block, 1, sizeof block, file.get())) > 0;)
    bytes.insert(bytes.end(), block, block + n);
  if (std::ferror(file.get())) throw FileError(fmt::format("cannot be read: {}", std::strerror(errno)));
  return bytes;
}

void write_file(const fs::path& path, Bytes bytes) {
  if (path.has_parent_path()) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) throw FileError(fmt::format("its folder cannot be made: {}", error.message()));
  }
  auto temporary = path;
  temporary += ".part";
  File file(std::fopen(temporary.c_str(), "wb"));
  if (!file) throw FileError(fmt::format("cannot be written: {}", std::strerror(errno)));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary.c_str());
    throw FileError(fmt::format("cannot be written: {}", std::strerror(reason)));
  }
}

Picture decode_picture(Bytes file) {
  if (file.empty()) throw FileError("is empty");
  for (const auto& c : codecs) {
    if (!c.matches(file)) continue;
    if (!c.decode) throw FileError(fmt::format("is {}, which is {}", c.name, c.what));
    return c.decode(file);
  }
  throw FileError("is in no picture format that quietframe knows; see quietframe formats");
}

Picture read_picture(const fs::path& path) { return decode_picture(read_file(path)); }

void check_can_write(const fs::path& path) {
  const auto* codec = by_extension(path);
  if (codec && codec->encode) return;
  std::string writable;
  for (const auto& c : codecs)
    if (c.encode) writable += fmt::format("{}{}", writable.empty() ? "" : " ", c.extensions);
  throw UsageError(
      fmt::format("{}: pictures can be written with one of the extensions {}", path.string(), writable));
}

void write_picture(const fs::path& path, const Picture& picture) {
  check_can_write(path);
  write_file(path, by_extension(path)->encode(picture, lower_extension(path)));
}

std::string full_extension(const fs::path& path) {
  const auto last = path.extension().string(), before = path.stem().extension().string();
  return lower(before + last) == ".nii.gz" ? before + last : last;
}

fs::path without_extension(const fs::path& path) {
  auto name = path.filename().string();
  return path.parent_path() / name.erase(name.size() - full_extension(path).size());
}

bool looks_like_picture(const fs::path& path) { return by_extension(path) != nullptr; }

std::string output_extension(const fs::path& path) {
  const auto* codec = by_extension(path);
  if (!codec) return ".png";
  return codec->encode && lower_extension(path) != "pbm" ? path.extension().string() : codec->instead;
}

}  // namespace quietframe::cli
