// Clips: frames one after another from and to a file, as Y4M or without any header.
#pragma once
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "picture.hpp"
#include "pixel_format.hpp"

namespace quietframe::cli {

struct ClipInfo {
  FrameFormat format;
  int rate_num = 30, rate_den = 1;  ///< frames a second
  /// Words of a Y4M header that a filter does not change: interlacing, aspect, chroma siting, comments; each
  /// begins with a space.
  std::string carried;
};

class ClipReader {
 public:
  virtual ~ClipReader() = default;
  const ClipInfo& info() const { return info_; }
  /// Fills a frame of the clip's format; false at the end. Throws FileError for a damaged or cut file.
  virtual bool read(const Frame& frame) = 0;

 protected:
  ClipInfo info_;
};

class ClipWriter {
 public:
  virtual ~ClipWriter() = default;
  virtual void write(const Frame& frame) = 0;
  /// To be called at the end: what was written becomes the file of its name. Without it, no file is left.
  virtual void finish() = 0;
};

/// A Y4M file, or with `raw` a headerless one. Errors name the file.
std::unique_ptr<ClipReader> open_clip(const std::filesystem::path& path,
                                      const std::optional<FrameFormat>& raw);
/// Y4M by a name ending in .y4m; headerless otherwise if `raw_allowed`. Throws UsageError where the format
/// has no place in the file.
std::unique_ptr<ClipWriter> create_clip(const std::filesystem::path& path, const ClipInfo& info,
                                        bool raw_allowed);

/// The header line of a Y4M file, without its newline; throws FileError.
ClipInfo parse_y4m_header(const std::string& line);
/// The way back; empty when Y4M has no name for the format.
std::string y4m_header(const ClipInfo& info);

/// A Y4M file in memory, for tests and fuzzing: reads through all frames and returns their number.
int count_y4m_frames(std::span<const std::byte> file);

/// Page-locked memory where the GPU can use it, for one frame.
class FrameBuffer {
 public:
  explicit FrameBuffer(const FrameFormat& format);
  const Frame& frame() const { return frame_; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
  Frame frame_;
};

/// A group of a frame as float planes in levels, and back.
Planes group_to_planes(const GroupView& view);
void planes_to_group(const PlanarGroup& planes, const GroupView& view);

}  // namespace quietframe::cli
