// The still picture formats: one table, a row for each, from which reading, writing and the help are made.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "picture.hpp"

namespace quietframe::cli {

using Bytes = std::span<const std::byte>;

struct Codec {
  const char* name;
  const char* extensions;         ///< in lower case, without dots, separated by spaces
  const char* what;               ///< what of it is supported, or why it is not
  bool (*matches)(Bytes head);    ///< by the first bytes of a file
  Picture (*decode)(Bytes file);  ///< null: cannot be read
  std::vector<std::byte> (*encode)(const Picture&, std::string_view extension);  ///< null: cannot be written
  const char* instead = ".png";  ///< what is written where this cannot be
};

/// Rows for what this build cannot do are in it too, with null functions and the reason in `what`.
std::span<const Codec> all_codecs();

/// Reads a whole file; throws FileError.
std::vector<std::byte> read_file(const std::filesystem::path& path);
/// Writes a whole file, through a neighbour that is renamed, so that no half-written file is left.
void write_file(const std::filesystem::path& path, Bytes bytes);

/// Decodes by content, whatever the name; throws FileError.
Picture decode_picture(Bytes file);
Picture read_picture(const std::filesystem::path& path);

/// Writes in the format that the extension names; throws FileError when that format cannot hold the picture.
void write_picture(const std::filesystem::path& path, const Picture& picture);
/// Throws UsageError unless pictures can be written under this name.
void check_can_write(const std::filesystem::path& path);
/// Whether a file of this name would be looked at when a folder is read.
bool looks_like_picture(const std::filesystem::path& path);
/// The extension of a name with its dot, ".nii.gz" whole.
std::string full_extension(const std::filesystem::path& path);
/// The path less its full_extension.
std::filesystem::path without_extension(const std::filesystem::path& path);
/// The extension (with dot) under which the result of a picture called `path` is written: its own, or that of
/// another format where that one is only read.
std::string output_extension(const std::filesystem::path& path);

/// Head of the bytes as text, for comparing with magic numbers.
inline std::string_view head_text(Bytes b, std::size_t n) {
  return {reinterpret_cast<const char*>(b.data()), std::min(n, b.size())};
}

namespace png {
Picture decode(Bytes file);
std::vector<std::byte> encode(const Picture& picture, std::string_view extension);
}  // namespace png
namespace pnm {
bool matches(Bytes head);
Picture decode(Bytes file);
std::vector<std::byte> encode(const Picture& picture, std::string_view extension);
}  // namespace pnm
namespace tiff {
Picture decode(Bytes file);
std::vector<std::byte> encode(const Picture& picture, std::string_view extension);
}  // namespace tiff
namespace jpeg {
Picture decode(Bytes file);
}  // namespace jpeg
namespace dicom {
Picture decode(Bytes file);
}  // namespace dicom
namespace nifti {
bool is_header(Bytes head);  ///< by its magic number, of one file or two
bool matches(Bytes file);    ///< looks into gzip too
Picture decode(Bytes file);
}  // namespace nifti

}  // namespace quietframe::cli
