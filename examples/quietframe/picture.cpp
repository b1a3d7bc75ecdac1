// Conversions between pictures, frames and planes.
#include "picture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "errors.hpp"
#include "sample.hpp"

namespace quietframe::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "frames of two-byte codes are GRAY16_LE");

// Calls f with a value of the type that the picture's samples have.
template <class F>
void with_sample(const Picture& p, F&& f) {
  if (p.is_float())
    f(float{});
  else if (p.sample_bytes() == 1)
    f(std::uint8_t{});
  else
    f(std::uint16_t{});
}

template <class T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
void store(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

float levels_per_code(const Picture& p) {
  return p.is_float() ? 255.f : 255.f / static_cast<float>(p.max_code);
}

template <class T>
T from_level(float level, const Picture& p) {
  const float codes_per_level = 1.f / levels_per_code(p);
  if constexpr (std::is_same_v<T, float>)
    return level * codes_per_level;
  else
    return static_cast<T>(level_to_code(level, codes_per_level, p.max_code));
}

bool is_full_scale(int max_code) { return std::has_single_bit(static_cast<unsigned>(max_code) + 1); }

// Whether the frame holds the picture's codes as they are, not levels.
bool same_codes(const FrameFormat& format) { return format_info(format.format).type != SampleType::f32; }

// Copies `bytes` of every pixel between two layouts.
void copy_pixels(const std::byte* from, std::ptrdiff_t from_step, std::byte* to, std::ptrdiff_t to_step,
                 int count, std::size_t bytes) {
  for (int x = 0; x < count; ++x) std::memcpy(to + x * to_step, from + x * from_step, bytes);
}

}  // namespace

void check_size(std::uint64_t width, std::uint64_t height) {
  if (width < 1 || height < 1) throw FileError("says that it has no pixels");
  if (width > max_side || height > max_side)
    throw FileError(fmt::format("is {}x{} pixels; at most {} each way can be filtered, so cut it first",
                                width, height, max_side));
  if (width * height > max_pixels)
    throw FileError(fmt::format("is {}x{} pixels; more than {} million are taken for damage", width, height,
                                max_pixels / 1'000'000));
}

FrameFormat work_format(const Picture& p) {
  FrameFormat f{PixelFormat::gray_f32, p.width, p.height, 0};
  const bool gray = p.colours() == 1;
  if (p.max_code == 255) {
    f.format = gray ? PixelFormat::gray8 : p.has_alpha() ? PixelFormat::rgba : PixelFormat::rgb;
  } else if (gray && p.max_code > 255 && is_full_scale(p.max_code)) {
    f.format = PixelFormat::gray16_le;
    f.bit_depth = std::bit_width(static_cast<unsigned>(p.max_code));
  } else if (!gray) {
    f.format = PixelFormat::rgb_f32;
  }
  return f;
}

void picture_to_frame(const Picture& p, const Frame& frame) {
  const auto& info = format_info(frame.format.format);
  const int step = info.group[0].step, sample = p.sample_bytes();
  const std::ptrdiff_t pixel = std::ptrdiff_t{p.channels} * sample;
  const float scale = levels_per_code(p);
  for (int y = 0; y < p.height; ++y) {
    const std::byte* from = p.row(y);
    std::byte* to = frame.plane[0] + y * frame.stride[0];
    if (same_codes(frame.format)) {
      if (step == pixel)
        std::memcpy(to, from, p.row_bytes());
      else
        copy_pixels(from, pixel, to, step, p.width, static_cast<std::size_t>(step));
      continue;
    }
    with_sample(p, [&](auto type) {
      for (int x = 0; x < p.width; ++x)
        for (int c = 0; c < p.colours(); ++c)
          store(to + std::ptrdiff_t{x} * step + c * 4,
                static_cast<float>(load<decltype(type)>(from + x * pixel + c * sample)) * scale);
    });
  }
}

void frame_to_picture(const Frame& frame, Picture& p) {
  const auto& info = format_info(frame.format.format);
  const int step = info.group[0].step, sample = p.sample_bytes();
  const std::ptrdiff_t pixel = std::ptrdiff_t{p.channels} * sample;
  for (int y = 0; y < p.height; ++y) {
    const std::byte* from = frame.plane[0] + y * frame.stride[0];
    std::byte* to = p.row(y);
    if (same_codes(frame.format)) {
      copy_pixels(from, step, to, pixel, p.width,
                  static_cast<std::size_t>(std::min<std::ptrdiff_t>(step, pixel)));
      continue;
    }
    with_sample(p, [&](auto type) {
      for (int x = 0; x < p.width; ++x)
        for (int c = 0; c < p.colours(); ++c)
          store(to + x * pixel + c * sample,
                from_level<decltype(type)>(load<float>(from + std::ptrdiff_t{x} * step + c * 4), p));
    });
  }
}

Planes::Planes(int width, int height, int channels) {
  group.channels = channels;
  for (int c = 0; c < channels; ++c)
    group.channel[static_cast<std::size_t>(c)] = storage.plane(static_cast<std::size_t>(c), width, height);
}

Planes to_planes(const Picture& p, Unit unit) {
  Planes planes(p.width, p.height, p.colours());
  const int sample = p.sample_bytes();
  const float scale = unit == Unit::codes ? 1.f : levels_per_code(p);
  with_sample(p, [&](auto type) {
    for (int c = 0; c < p.colours(); ++c)
      for (int y = 0; y < p.height; ++y) {
        const std::byte* from = p.row(y) + c * sample;
        float* to = planes.group.channel[static_cast<std::size_t>(c)].row(y);
        for (int x = 0; x < p.width; ++x)
          to[x] = static_cast<float>(load<decltype(type)>(from + std::ptrdiff_t{x} * p.channels * sample)) *
                  scale;
      }
  });
  return planes;
}

void from_levels(const PlanarGroup& planes, Picture& p) {
  const int sample = p.sample_bytes();
  with_sample(p, [&](auto type) {
    for (int c = 0; c < p.colours(); ++c)
      for (int y = 0; y < p.height; ++y) {
        const float* from = planes.channel[static_cast<std::size_t>(c)].row(y);
        std::byte* to = p.row(y) + c * sample;
        for (int x = 0; x < p.width; ++x)
          store(to + std::ptrdiff_t{x} * p.channels * sample, from_level<decltype(type)>(from[x], p));
      }
  });
}

Picture blank_picture(int width, int height, int channels, int max_code) {
  Picture p{width, height, channels, max_code, {}, {}};
  p.allocate();
  if (p.has_alpha())
    with_sample(p, [&](auto type) {
      using T = decltype(type);
      const auto opaque = p.is_float() ? T{1} : static_cast<T>(max_code);
      for (std::size_t i = static_cast<std::size_t>(channels) - 1; i < p.samples();
           i += static_cast<std::size_t>(channels))
        store(p.data.data() + i * sizeof(T), opaque);
    });
  return p;
}

Picture with_max_code(const Picture& p, int max_code) {
  if (p.max_code == max_code) return p;
  Picture out{p.width, p.height, p.channels, max_code, {}, p.carried};
  out.allocate();
  const double scale = p.is_float() ? max_code : static_cast<double>(max_code) / p.max_code;
  with_sample(p, [&](auto from) {
    with_sample(out, [&](auto to) {
      for (std::size_t i = 0; i < p.samples(); ++i) {
        const double v =
            static_cast<double>(load<decltype(from)>(p.data.data() + i * sizeof from)) * scale + 0.5;
        const double code =
            v > 0 ? std::min(std::floor(v), static_cast<double>(max_code)) : 0;  // NaN becomes 0
        store(out.data.data() + i * sizeof to, static_cast<decltype(to)>(code));
      }
    });
  });
  return out;
}

Picture as_float(const Picture& p) {
  if (p.is_float()) return p;
  Picture out{p.width, p.height, p.channels, 0, {}, p.carried};
  out.allocate();
  with_sample(p, [&](auto from) {
    for (std::size_t i = 0; i < p.samples(); ++i)
      store(out.data.data() + i * 4,
            static_cast<float>(load<decltype(from)>(p.data.data() + i * sizeof from)) /
                static_cast<float>(p.max_code));
  });
  return out;
}

}  // namespace quietframe::cli
