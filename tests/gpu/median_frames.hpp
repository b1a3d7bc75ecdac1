// Frames of hostile contents for the median's GPU programs, and the CPU definition's answer to them.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "filters/median/params.hpp"
#include "pixel_format.hpp"
#include "sample.hpp"
#include "thread_pool.hpp"

namespace quietframe::testing {

/// A frame whose rows are `padding` samples longer than need be; all bytes between rows are part of it.
struct PaddedFrame {
  std::vector<std::byte> bytes;
  std::array<std::size_t, max_planes> offset{};
  Frame frame;

  PaddedFrame(const FrameFormat& format, int padding, std::byte fill) {
    const auto& info = format_info(format.format);
    frame.format = format;
    std::size_t size = 0;
    for (int p = 0; p < info.planes; ++p) {
      const auto plane = plane_size(info, p, format.width, format.height);
      frame.stride[p] =
          (plane.row_bytes + info.sample_bytes() - 1) / info.sample_bytes() * info.sample_bytes() +
          padding * info.sample_bytes();
      offset[p] = size;
      size += static_cast<std::size_t>(frame.stride[p]) * static_cast<std::size_t>(plane.rows);
      size = (size + 255) / 256 * 256;
    }
    bytes.assign(size, fill);
    point_to(bytes.data());
  }
  PaddedFrame(const PaddedFrame&) = delete;
  void point_to(std::byte* base) {
    for (int p = 0; p < format_info(frame.format.format).planes; ++p) frame.plane[p] = base + offset[p];
  }
  /// The same frame with its bytes at `base`.
  Frame at(std::byte* base) const {
    Frame f = frame;
    for (int p = 0; p < format_info(f.format.format).planes; ++p) f.plane[p] = base + offset[p];
    f.memory = MemoryKind::device;
    return f;
  }
};

enum class Content { random, constant, ramp, two_valued, rare, saw, special };
inline constexpr Content all_contents[] = {Content::random,     Content::constant, Content::ramp,
                                           Content::two_valued, Content::rare,     Content::saw,
                                           Content::special};
inline const char* to_string(Content c) {
  constexpr const char* names[] = {"random", "constant", "ramp", "two-valued", "rare", "saw", "special"};
  return names[static_cast<int>(c)];
}

/// A sample between 0 and 1. `saw` descends against the scan order in one direction and jumps in the other.
inline double content_at(Content content, int x, int y, std::mt19937& random) {
  const double noise = static_cast<double>(random()) / 4294967296.0;
  switch (content) {
    case Content::constant:
      return 0.5;
    case Content::ramp:
      return (x * 7 + y * 3) % 1024 / 1024.0;
    case Content::two_valued:
      return noise < 0.5 ? 0.25 : 0.75;
    case Content::rare:
      return noise < 0.02 ? 1.0 : 0.0;
    case Content::saw:
      return (65535 - (x * 257 + y * 4099) % 65536) / 65536.0;
    default:
      return noise;
  }
}

inline void fill_channel(const GroupView& v, int c, Content content, std::mt19937& random) {
  constexpr float special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.f, -0.f, 1e-40f, -1e-40f, 3.4e38f, 255.f};
  for (int y = 0; y < v.height; ++y)
    for (int x = 0; x < v.width; ++x) {
      const double u = content_at(content, x, y, random);
      std::byte* p = v.channel[c] + y * v.stride[c] + std::ptrdiff_t{x} * v.step;
      if (v.type == SampleType::f32) {
        const auto value = static_cast<float>(u * 300 - 20);
        *reinterpret_cast<float*>(p) =
            content == Content::special && random() % 2 ? special[random() % 10] : value;
        continue;
      }
      // `special` leaves rubbish above bit-depth, as careless sources do.
      const int top =
          content == Content::special && v.shift == 0 && v.type != SampleType::u8 ? 65535 : v.max_code;
      const int code = std::min(static_cast<int>(u * (top + 1)), top);
      with_sample_type(v.type, [&]<SampleType S>() {
        if constexpr (S != SampleType::f32) store_code<S>(p, v.shift, code);
      });
    }
}

inline void fill_frame(PaddedFrame& f, Content content, unsigned seed) {
  std::mt19937 random(seed);
  const auto& info = format_info(f.frame.format.format);
  for (int g = 0; g < info.groups; ++g) {
    const auto v = group_view(f.frame, g);
    for (int c = 0; c < v.channels; ++c) fill_channel(v, c, content, random);
    if (v.carry)
      for (int y = 0; y < v.height; ++y)
        for (int x = 0; x < v.width; ++x)
          v.carry[y * v.stride[0] + std::ptrdiff_t{x} * v.step] = static_cast<std::byte>(random());
  }
}

/// What the CPU definition makes of one group.
class Reference {
 public:
  void filter(const GroupView& in, const GroupView& out, const median::Window& window, float strength) {
    PlanarGroup before, after;
    before.channels = after.channels = in.channels;
    for (int c = 0; c < in.channels; ++c) {
      before.channel[c] = planes_.plane(static_cast<std::size_t>(2 * c), in.width, in.height);
      after.channel[c] = planes_.plane(static_cast<std::size_t>(2 * c + 1), in.width, in.height);
    }
    with_sample_type(in.type, [&]<SampleType S>() { load<S>(in, before); });
    CpuJob job{before, after, {}, {}, pool_, scratch_};
    median::run_window_cpu(job, window);
    with_sample_type(in.type, [&]<SampleType S>() { store<S>(in, before, after, out, strength); });
  }

 private:
  template <SampleType S>
  static void load(const GroupView& in, const PlanarGroup& to) {
    for (int c = 0; c < in.channels; ++c)
      for (int y = 0; y < in.height; ++y)
        for (int x = 0; x < in.width; ++x)
          to.channel[c].row(y)[x] = load_level<S>(
              in.channel[c] + y * in.stride[c] + std::ptrdiff_t{x} * in.step, in.shift, in.levels_per_code);
  }
  template <SampleType S>
  static void store(const GroupView& in, const PlanarGroup& before, const PlanarGroup& after,
                    const GroupView& out, float strength) {
    for (int c = 0; c < in.channels; ++c)
      for (int y = 0; y < in.height; ++y)
        for (int x = 0; x < in.width; ++x) {
          const std::ptrdiff_t at = std::ptrdiff_t{x} * out.step;
          store_level<S>(out.channel[c] + y * out.stride[c] + at, out.shift, 1.f / out.levels_per_code,
                         out.max_code,
                         mix(before.channel[c].row(y)[x], after.channel[c].row(y)[x], strength));
          if (in.carry && c == 0) out.carry[y * out.stride[0] + at] = in.carry[y * in.stride[0] + at];
        }
  }

  ThreadPool pool_;
  Scratch planes_, scratch_;
};

}  // namespace quietframe::testing
