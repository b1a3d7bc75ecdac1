// Y4M and headerless clips.
#include "clip.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "cuda/device.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "sample.hpp"

namespace quietframe::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Where bytes come from: a file, or memory.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::size_t read(std::byte* to, std::size_t n) = 0;

  /// A line without its newline; false at the end of the file.
  bool line(std::string& text) {
    text.clear();
    for (std::byte b; read(&b, 1) == 1;) {
      if (b == std::byte{'\n'}) return true;
      if (text.size() > 4096) throw FileError("is a damaged Y4M: a line of its header is too long");
      text += static_cast<char>(b);
    }
    if (!text.empty()) throw FileError("is a damaged Y4M: it ends inside a header");
    return false;
  }
};

class FileSource final : public Source {
 public:
  explicit FileSource(const fs::path& path) : file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) throw FileError(fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  std::size_t read(std::byte* to, std::size_t n) override { return std::fread(to, 1, n, file_.get()); }

 private:
  File file_;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : rest_(bytes) {}
  std::size_t read(std::byte* to, std::size_t n) override {
    n = std::min(n, rest_.size());
    std::memcpy(to, rest_.data(), n);
    rest_ = rest_.subspan(n);
    return n;
  }

 private:
  std::span<const std::byte> rest_;
};

// The planes of a frame in the order and packing of a file; returns the bytes that went through `move`.
template <class Move>
std::size_t each_row(const Frame& frame, Move&& move) {
  const auto& info = format_info(frame.format.format);
  std::size_t total = 0;
  for (int p = 0; p < info.planes; ++p) {
    const auto size = plane_size(info, p, frame.format.width, frame.format.height);
    for (int y = 0; y < size.rows; ++y) {
      const auto n = static_cast<std::size_t>(size.row_bytes);
      const std::size_t done =
          move(frame.plane[static_cast<std::size_t>(p)] + y * frame.stride[static_cast<std::size_t>(p)], n);
      total += done;
      if (done < n) return total;
    }
  }
  return total;
}

// Rows of a whole frame, or none at the end of the file.
bool read_frame(Source& source, const Frame& frame) {
  const std::size_t all = pack_frame(frame.format, nullptr, nullptr);
  const auto got = each_row(frame, [&](std::byte* row, std::size_t n) { return source.read(row, n); });
  if (got != 0 && got < all)
    throw FileError(fmt::format("ends inside a frame: {} bytes are missing", all - got));
  return got == all;
}

class RawReader final : public ClipReader {
 public:
  RawReader(std::unique_ptr<Source> source, const FrameFormat& format) : source_(std::move(source)) {
    info_.format = format;
  }
  bool read(const Frame& frame) override { return read_frame(*source_, frame); }

 private:
  std::unique_ptr<Source> source_;
};

class Y4mReader final : public ClipReader {
 public:
  explicit Y4mReader(std::unique_ptr<Source> source) : source_(std::move(source)) {
    std::string header;
    if (!source_->line(header)) throw FileError("is empty");
    info_ = parse_y4m_header(header);
  }

  bool read(const Frame& frame) override {
    std::string line;
    if (!source_->line(line)) return false;
    if (line != "FRAME" && line.rfind("FRAME ", 0) != 0)
      throw FileError("is a damaged Y4M: there is no FRAME where one should be");
    if (!read_frame(*source_, frame)) throw FileError("ends inside a frame");
    return true;
  }

 private:
  std::unique_ptr<Source> source_;
};

// Puts the file's name before errors.
class NamedReader final : public ClipReader {
 public:
  NamedReader(fs::path path, std::unique_ptr<ClipReader> inner)
      : path_(std::move(path)), inner_(std::move(inner)) {
    info_ = inner_->info();
  }
  bool read(const Frame& frame) override {
    bool more = false;
    with_name(path_, [&] { more = inner_->read(frame); });
    return more;
  }

 private:
  fs::path path_;
  std::unique_ptr<ClipReader> inner_;
};

class FileWriter final : public ClipWriter {
 public:
  FileWriter(const fs::path& path, const std::string& header, std::string frame_header)
      : path_(path), temporary_(path.string() + ".part"), frame_header_(std::move(frame_header)) {
    if (path.has_parent_path()) {
      std::error_code error;
      fs::create_directories(path.parent_path(), error);
    }
    file_.reset(std::fopen(temporary_.c_str(), "wb"));
    if (!file_) fail();
    put(header.data(), header.size());
  }
  ~FileWriter() override {
    if (!file_) return;
    file_.reset();
    std::remove(temporary_.c_str());
  }

  void write(const Frame& frame) override {
    put(frame_header_.data(), frame_header_.size());
    each_row(frame, [&](const std::byte* row, std::size_t n) {
      put(row, n);
      return n;
    });
  }

  void finish() override {
    if (std::fclose(file_.release()) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  }

 private:
  void put(const void* bytes, std::size_t n) {
    if (std::fwrite(bytes, 1, n, file_.get()) != n) fail();
  }
  [[noreturn]] void fail() const {
    throw FileError(fmt::format("{} cannot be written: {}", path_.string(), std::strerror(errno)));
  }

  fs::path path_, temporary_;
  std::string frame_header_;
  File file_;
};

struct Y4mFormat {
  const char* tag;
  PixelFormat format;
  int bit_depth;
};

// The first name of each format is the one that is written; chroma siting travels in the carried words.
constexpr Y4mFormat y4m_formats[] = {
    {"420jpeg", PixelFormat::i420, 0},      {"420", PixelFormat::i420, 0},
    {"420mpeg2", PixelFormat::i420, 0},     {"420paldv", PixelFormat::i420, 0},
    {"422", PixelFormat::y42b, 0},          {"444", PixelFormat::y444, 0},
    {"420p10", PixelFormat::i420_10le, 0},  {"mono", PixelFormat::gray8, 0},
    {"mono9", PixelFormat::gray16_le, 9},   {"mono10", PixelFormat::gray16_le, 10},
    {"mono12", PixelFormat::gray16_le, 12}, {"mono14", PixelFormat::gray16_le, 14},
    {"mono16", PixelFormat::gray16_le, 16},
};

int positive(std::string_view text, const char* what) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw FileError(fmt::format("is a damaged Y4M: its {} is not a positive number", what));
  return value;
}

void parse_rate(std::string_view text, ClipInfo& info) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) throw FileError("is a damaged Y4M: its frame rate is not a fraction");
  info.rate_num = positive(text.substr(0, colon), "frame rate");
  info.rate_den = positive(text.substr(colon + 1), "frame rate");
}

void parse_colour(std::string_view tag, ClipInfo& info) {
  const auto* it =
      std::ranges::find(y4m_formats, tag, [](const Y4mFormat& f) { return std::string_view(f.tag); });
  if (it == std::end(y4m_formats)) {
    std::string all;
    for (const auto& f : y4m_formats) all += fmt::format(" C{}", f.tag);
    throw FileError(fmt::format("is a Y4M in C{}; there are{}", tag.substr(0, 40), all));
  }
  info.format.format = it->format;
  info.format.bit_depth = it->bit_depth;
}

}  // namespace

ClipInfo parse_y4m_header(const std::string& line) {
  constexpr std::string_view magic = "YUV4MPEG2";
  std::string_view rest = line;
  if (rest.substr(0, magic.size()) != magic) throw FileError("is not a Y4M file");
  rest.remove_prefix(magic.size());
  ClipInfo info;
  info.format.format = PixelFormat::i420;
  int width = 0, height = 0;
  bool has_colour = false;
  while (!rest.empty()) {
    if (rest.front() != ' ') throw FileError("is a damaged Y4M: its header is not words and spaces");
    rest.remove_prefix(1);
    const auto word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    if (word.empty()) continue;
    const auto value = word.substr(1);
    switch (word.front()) {
      case 'W':
        width = positive(value, "width");
        break;
      case 'H':
        height = positive(value, "height");
        break;
      case 'F':
        parse_rate(value, info);
        break;
      case 'C':
        parse_colour(value, info);
        has_colour = true;
        info.carried += " " + std::string(word);
        break;
      default:
        info.carried += " " + std::string(word);
    }
  }
  if (!has_colour) info.carried += " C420jpeg";
  check_size(static_cast<std::uint64_t>(std::max(width, 0)), static_cast<std::uint64_t>(std::max(height, 0)));
  info.format.width = width;
  info.format.height = height;
  return info;
}

std::string y4m_header(const ClipInfo& info) {
  auto carried = info.carried;
  if (carried.find(" C") == std::string::npos) {
    const auto* it = std::ranges::find_if(y4m_formats, [&](const Y4mFormat& f) {
      const int depth =
          info.format.bit_depth == 0 && f.format == PixelFormat::gray16_le ? 16 : info.format.bit_depth;
      return f.format == info.format.format && f.bit_depth == depth;
    });
    if (it == std::end(y4m_formats)) return {};
    carried = " Ip A0:0 C" + std::string(it->tag) + carried;
  }
  return fmt::format("YUV4MPEG2 W{} H{} F{}:{}{}", info.format.width, info.format.height, info.rate_num,
                     info.rate_den, carried);
}

std::unique_ptr<ClipReader> open_clip(const fs::path& path, const std::optional<FrameFormat>& raw) {
  std::unique_ptr<ClipReader> inner;
  with_name(path, [&] {
    auto source = std::make_unique<FileSource>(path);
    if (raw)
      inner = std::make_unique<RawReader>(std::move(source), *raw);
    else
      inner = std::make_unique<Y4mReader>(std::move(source));
  });
  return std::make_unique<NamedReader>(path, std::move(inner));
}

std::unique_ptr<ClipWriter> create_clip(const fs::path& path, const ClipInfo& info, bool raw_allowed) {
  if (!is_clip(path)) {
    if (raw_allowed) return std::make_unique<FileWriter>(path, "", "");
    throw UsageError(path.string() + ": clips are written as .y4m");
  }
  const auto header = y4m_header(info);
  if (header.empty())
    throw UsageError(fmt::format("Y4M has no place for {}; write a raw file, with another extension",
                                 format_info(info.format.format).name));
  return std::make_unique<FileWriter>(path, header + "\n", "FRAME\n");
}

int count_y4m_frames(std::span<const std::byte> file) {
  Y4mReader reader(std::make_unique<MemorySource>(file));
  // A header alone may ask for gigabytes: what cannot be in the file is not allocated.
  if (pack_frame(reader.info().format, nullptr, nullptr) > file.size())
    throw FileError("ends inside a frame");
  const FrameBuffer buffer(reader.info().format);
  int frames = 0;
  while (reader.read(buffer.frame())) ++frames;
  return frames;
}

void FrameBuffer::Free::operator()(std::byte* p) const noexcept { cuda::host_free(p); }

FrameBuffer::FrameBuffer(const FrameFormat& format) : bytes_(pack_frame(format, nullptr, nullptr)) {
  data_.reset(static_cast<std::byte*>(cuda::host_alloc(bytes_)));
  if (!data_) throw std::bad_alloc();
  pack_frame(format, data_.get(), &frame_);
  frame_.memory = cuda::host_memory_is_pinned() ? MemoryKind::pinned : MemoryKind::pageable;
}

Planes group_to_planes(const GroupView& v) {
  Planes planes(v.width, v.height, v.channels);
  with_sample_type(v.type, [&]<SampleType S>() {
    for (int c = 0; c < v.channels; ++c)
      for (int y = 0; y < v.height; ++y) {
        const auto i = static_cast<std::size_t>(c);
        float* to = planes.group.channel[i].row(y);
        for (int x = 0; x < v.width; ++x)
          to[x] = load_level<S>(v.channel[i] + y * v.stride[i] + std::ptrdiff_t{x} * v.step, v.shift,
                                v.levels_per_code);
      }
  });
  return planes;
}

void planes_to_group(const PlanarGroup& planes, const GroupView& v) {
  with_sample_type(v.type, [&]<SampleType S>() {
    for (int c = 0; c < v.channels; ++c)
      for (int y = 0; y < v.height; ++y) {
        const auto i = static_cast<std::size_t>(c);
        const float* from = planes.channel[i].row(y);
        for (int x = 0; x < v.width; ++x)
          store_level<S>(v.channel[i] + y * v.stride[i] + std::ptrdiff_t{x} * v.step, v.shift,
                         1.f / v.levels_per_code, v.max_code, from[x]);
      }
  });
}

}  // namespace quietframe::cli
