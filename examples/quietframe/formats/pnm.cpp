// The Netpbm family: PBM, PGM and PPM in binary and ASCII, PAM, and PFM, by the formats' own specifications
// (netpbm.sourceforge.net/doc/pbm.html and its neighbours; Debevec's PFM).
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli::pnm {
namespace {

[[noreturn]] void damaged(const std::string& why) { throw FileError("is a damaged PNM: " + why); }

bool is_space(std::byte b) {
  const auto c = static_cast<char>(b);
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

// Reads tokens; every access is checked against the end.
class Scanner {
 public:
  explicit Scanner(Bytes file) : rest_(file) {}

  Bytes rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }

  std::byte next() {
    if (rest_.empty()) damaged("it ends early");
    const auto b = rest_.front();
    rest_ = rest_.subspan(1);
    return b;
  }

  /// Skips white space, and comments, which run from # to the end of the line.
  void skip_space() {
    while (!rest_.empty()) {
      if (rest_.front() == std::byte{'#'})
        while (!rest_.empty() && rest_.front() != std::byte{'\n'} && rest_.front() != std::byte{'\r'}) next();
      else if (is_space(rest_.front()))
        next();
      else
        return;
    }
  }

  /// An unsigned decimal number of at most 65535 after white space.
  int number(const char* what) {
    skip_space();
    int value = 0, digits = 0;
    while (!rest_.empty() && rest_.front() >= std::byte{'0'} && rest_.front() <= std::byte{'9'}) {
      value = value * 10 + static_cast<int>(next()) - '0';
      ++digits;
      if (value > 65535) damaged(fmt::format("its {} is above 65535", what));
    }
    if (digits == 0)
      damaged(at_end() ? "it ends early" : fmt::format("there is no number where its {} should be", what));
    return value;
  }

  /// The one white space that ends a header.
  void end_header() {
    if (!is_space(next())) damaged("its header does not end in white space");
  }

  std::string token() {
    skip_space();
    std::string t;
    while (!rest_.empty() && !is_space(rest_.front()) && t.size() < 64) t += static_cast<char>(next());
    return t;
  }

  std::string line() {
    std::string t;
    for (std::byte b; (b = next()) != std::byte{'\n'};) {
      if (t.size() > 1000) damaged("a line of its header is too long");
      t += static_cast<char>(b);
    }
    return t;
  }

  Bytes take(std::size_t n) {
    if (n > rest_.size())
      damaged(fmt::format("it ends early: {} bytes of samples are missing", n - rest_.size()));
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }

 private:
  Bytes rest_;
};

struct Header {
  int width = 0, height = 0, channels = 1, max_code = 255;
};

Picture picture_of(const Header& h) {
  check_size(static_cast<std::uint64_t>(h.width), static_cast<std::uint64_t>(h.height));
  if (h.max_code < 1) damaged("its maxval is 0");
  return Picture{h.width, h.height, h.channels, h.max_code, {}, {}};
}

void put(Picture& p, std::size_t index, int code) {
  if (code > p.max_code) damaged(fmt::format("a sample of {} is above its maxval {}", code, p.max_code));
  if (p.sample_bytes() == 1) {
    p.data[index] = static_cast<std::byte>(code);
  } else {
    const auto v = static_cast<std::uint16_t>(code);
    std::memcpy(p.data.data() + 2 * index, &v, 2);
  }
}

Picture decode_binary(Scanner& s, const Header& h) {
  auto p = picture_of(h);
  const auto raw = s.take(p.samples() * static_cast<std::size_t>(p.sample_bytes()));
  p.allocate();
  for (std::size_t i = 0; i < p.samples(); ++i)
    put(p, i,
        p.sample_bytes() == 1 ? static_cast<int>(raw[i])
                              : static_cast<int>(raw[2 * i]) << 8 | static_cast<int>(raw[2 * i + 1]));
  return p;
}

Picture decode_ascii(Scanner& s, const Header& h) {
  auto p = picture_of(h);
  // Each sample takes a digit and, but for the last, a space: less than that is cut short.
  if (s.rest().size() < 2 * p.samples() - 1) damaged("it ends early");
  p.allocate();
  for (std::size_t i = 0; i < p.samples(); ++i) put(p, i, s.number("sample"));
  return p;
}

// Bitmaps: 1 is black. They become 8-bit gray, so that a filter has levels to work with.
Picture decode_bitmap(Scanner& s, Header h, bool ascii) {
  h.max_code = 255;
  auto p = picture_of(h);
  if (ascii) {
    if (s.rest().size() < p.samples()) damaged("it ends early");
    p.allocate();
    for (auto& sample : p.data) {
      s.skip_space();
      const auto b = s.next();
      if (b != std::byte{'0'} && b != std::byte{'1'}) damaged("a bit is neither 0 nor 1");
      sample = b == std::byte{'1'} ? std::byte{0} : std::byte{255};
    }
    return p;
  }
  const auto stride = (static_cast<std::size_t>(h.width) + 7) / 8;
  const auto raw = s.take(stride * static_cast<std::size_t>(h.height));
  p.allocate();
  for (int y = 0; y < h.height; ++y)
    for (int x = 0; x < h.width; ++x) {
      const auto byte = raw[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(x) / 8];
      const bool black = (byte >> (7 - x % 8) & std::byte{1}) != std::byte{0};
      p.row(y)[x] = black ? std::byte{0} : std::byte{255};
    }
  return p;
}

// "KEYWORD value" lines up to ENDHDR.
Picture decode_pam(Scanner& s) {
  Header h{0, 0, 0, 0};
  s.line();
  for (int lines = 0;; ++lines) {
    if (lines > 1000) damaged("its header has no ENDHDR");
    const auto text = s.line();
    Scanner words(std::as_bytes(std::span(text)));
    const auto key = words.token();
    if (key.empty() || key == "TUPLTYPE") continue;  // the depth says what a tuple is
    if (key == "ENDHDR") break;
    int* value = key == "WIDTH"    ? &h.width
                 : key == "HEIGHT" ? &h.height
                 : key == "DEPTH"  ? &h.channels
                 : key == "MAXVAL" ? &h.max_code
                                   : nullptr;
    if (!value) damaged(fmt::format("line {} of its header is none that PAM knows", lines + 2));
    *value = words.number(key.c_str());
  }
  if (h.channels < 1 || h.channels > 4)
    throw FileError(
        fmt::format("is a PAM of {} channels; gray and RGB, with alpha or not, can be read", h.channels));
  return decode_binary(s, h);
}

// Rows from the bottom up; the sign of the scale is the byte order. Its size means different things to
// different programs, so samples are kept as they are stored.
Picture decode_pfm(Scanner& s, int channels) {
  Header h;
  h.width = s.number("width");
  h.height = s.number("height");
  h.channels = channels;
  auto p = picture_of(h);
  p.max_code = 0;
  const auto scale = s.token();
  char* end = nullptr;
  const double value = std::strtod(scale.c_str(), &end);
  if (scale.empty() || *end != 0 || value == 0) damaged("its scale is not a number");
  s.end_header();
  const auto raw = s.take(p.samples() * 4);
  p.allocate();
  for (int y = 0; y < h.height; ++y)
    std::memcpy(p.row(h.height - 1 - y), raw.data() + static_cast<std::size_t>(y) * p.row_bytes(),
                p.row_bytes());
  if (value > 0)
    for (std::size_t i = 0; i < p.data.size(); i += 4)
      std::reverse(p.data.begin() + static_cast<std::ptrdiff_t>(i),
                   p.data.begin() + static_cast<std::ptrdiff_t>(i) + 4);
  return p;
}

Picture decode_kind(Scanner& s, char kind) {
  switch (kind) {
    case '7':
      return decode_pam(s);
    case 'f':
      return decode_pfm(s, 1);
    case 'F':
      return decode_pfm(s, 3);
    default:
      break;
  }
  Header h;
  h.width = s.number("width");
  h.height = s.number("height");
  const bool ascii = kind <= '3', bitmap = kind == '1' || kind == '4';
  if (!bitmap) h.max_code = s.number("maxval");
  h.channels = kind == '3' || kind == '6' ? 3 : 1;
  s.end_header();
  if (bitmap) return decode_bitmap(s, h, ascii);
  return ascii ? decode_ascii(s, h) : decode_binary(s, h);
}

void append(std::vector<std::byte>& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> encode_pfm(const Picture& p) {
  if (p.has_alpha()) throw FileError("has an alpha channel, which PFM cannot hold: write .tif");
  const auto f = as_float(p);
  std::vector<std::byte> out;
  append(out, fmt::format("P{}\n{} {}\n-1.0\n", p.colours() == 1 ? 'f' : 'F', p.width, p.height));
  for (int y = p.height - 1; y >= 0; --y) out.insert(out.end(), f.row(y), f.row(y) + f.row_bytes());
  return out;
}

std::string pam_header(const Picture& p) {
  constexpr const char* types[] = {"", "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
  return fmt::format("P7\nWIDTH {}\nHEIGHT {}\nDEPTH {}\nMAXVAL {}\nTUPLTYPE {}\nENDHDR\n", p.width, p.height,
                     p.channels, p.max_code, types[p.channels]);
}

}  // namespace

bool matches(Bytes head) {
  const auto t = head_text(head, 3);
  return t.size() == 3 && t[0] == 'P' && ((t[1] >= '1' && t[1] <= '7') || t[1] == 'f' || t[1] == 'F') &&
         (is_space(head[2]) || t[2] == '#');
}

Picture decode(Bytes file) {
  Scanner s(file);
  s.next();
  const auto kind = static_cast<char>(s.next());
  auto picture = decode_kind(s, kind);
  s.skip_space();
  if (matches(s.rest()))
    throw FileError("holds several pictures: split it first, for instance with pamsplit");
  return picture;
}

std::vector<std::byte> encode(const Picture& p, std::string_view extension) {
  if (extension == "pfm") return encode_pfm(p);
  if (p.is_float()) throw FileError("has float samples: write .pfm or .tif, or choose a depth with --depth");
  if (extension == "pbm")
    throw FileError("has levels between black and white, which PBM cannot hold: write .pgm");
  const bool pam = extension == "pam";
  if (!pam && p.has_alpha())
    throw FileError("has an alpha channel, which PNM cannot hold: write .pam or .png");
  if (extension == "pgm" && p.colours() == 3)
    throw FileError("has colour, which PGM cannot hold: write .ppm or .png");
  if (extension == "ppm" && p.colours() == 1)
    throw FileError("is gray, which PPM does not hold: write .pgm or .png");
  std::vector<std::byte> out;
  out.reserve(p.data.size() + 128);
  append(out, pam ? pam_header(p)
                  : fmt::format("P{}\n{} {}\n{}\n", p.colours() == 1 ? 5 : 6, p.width, p.height, p.max_code));
  const std::size_t start = out.size();
  out.insert(out.end(), p.data.begin(), p.data.end());
  if (p.sample_bytes() == 2)
    for (std::size_t i = start; i < out.size(); i += 2) std::swap(out[i], out[i + 1]);
  return out;
}

}  // namespace quietframe::cli::pnm
