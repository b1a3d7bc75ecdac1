// The median in the samples' own integers, tile by tile: selection networks for small windows, column
// histograms for 8-bit samples, and a histogram that follows the window for all others.
#include <algorithm>
#include <cstring>

#include "filters/median/ordinal.hpp"
#include "filters/median/sliding.hpp"
#include "filters/median/tile.hpp"
#include "simd/targets.hpp"
#include "thread_pool.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters/median/cpu_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "filters/median/histogram-inl.hpp"
#include "filters/median/network-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quietframe::median {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Levels to codes and back, exactly: a level is a code times levels_per_code.
template <class T>
void levels_to_codes(const float* in, std::size_t count, float levels_per_code, T* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const hn::Rebind<T, decltype(d)> dt;
  const float codes_per_level = 1.f / levels_per_code;
  const auto scale = hn::Set(d, codes_per_level);
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= count; x += hn::Lanes(d))
    hn::StoreU(hn::DemoteTo(dt, hn::NearestInt(hn::Mul(hn::LoadU(d, in + x), scale))), dt, out + x);
  for (; x < count; ++x) out[x] = static_cast<T>(in[x] * codes_per_level + 0.5f);
  (void)di;
}

template <class T>
void codes_to_levels(const T* in, std::size_t count, float levels_per_code, float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int32_t, decltype(d)> di;
  const hn::Rebind<T, decltype(d)> dt;
  const auto scale = hn::Set(d, levels_per_code);
  std::size_t x = 0;
  for (; x + hn::Lanes(d) <= count; x += hn::Lanes(d))
    hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(dt, in + x))), scale), d, out + x);
  for (; x < count; ++x) out[x] = static_cast<float>(in[x]) * levels_per_code;
}

void to_u8(const float* in, std::size_t n, float scale, std::uint8_t* out) {
  levels_to_codes(in, n, scale, out);
}
void to_u16(const float* in, std::size_t n, float scale, std::uint16_t* out) {
  levels_to_codes(in, n, scale, out);
}
void from_u8(const std::uint8_t* in, std::size_t n, float scale, float* out) {
  codes_to_levels(in, n, scale, out);
}
void from_u16(const std::uint16_t* in, std::size_t n, float scale, float* out) {
  codes_to_levels(in, n, scale, out);
}
void network_u8(const Tile<std::uint8_t>& t) { network(t); }
void network_u16(const Tile<std::uint16_t>& t) { network(t); }
void network_i32(const Tile<std::int32_t>& t) { network(t); }

}  // namespace HWY_NAMESPACE
}  // namespace quietframe::median
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quietframe::median {
namespace {

HWY_EXPORT(to_u8);
HWY_EXPORT(to_u16);
HWY_EXPORT(from_u8);
HWY_EXPORT(from_u16);
HWY_EXPORT(network_u8);
HWY_EXPORT(network_u16);
HWY_EXPORT(network_i32);
HWY_EXPORT(histogram);
HWY_EXPORT(histogram_bytes);

void convert(const float* in, std::size_t n, float scale, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(to_u8)(in, n, scale, out);
}
void convert(const float* in, std::size_t n, float scale, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(to_u16)(in, n, scale, out);
}
void convert(const float* in, std::size_t n, float, std::int32_t* out) {
  std::transform(in, in + n, out, order_key);
}
void convert(const std::uint8_t* in, std::size_t n, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(from_u8)(in, n, scale, out);
}
void convert(const std::uint16_t* in, std::size_t n, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(from_u16)(in, n, scale, out);
}
void convert(const std::int32_t* in, std::size_t n, float, float* out) {
  std::transform(in, in + n, out, from_order_key);
}

bool has_network(const Window& w) {
  return w.width == w.height && w.width >= 3 && w.width <= 7 && w.rank == w.count() / 2;
}

// How a window of samples of type T is done: the tile, and the bytes that a lane needs beside it.
struct Method {
  int columns, rows;
  std::size_t bytes;
};
template <class T>
Method method_for(const Window& w) {
  if (has_network(w)) return {network_columns, network_rows, 0};
  if (sizeof(T) == 1) return {histogram_columns, histogram_rows, HWY_DYNAMIC_DISPATCH(histogram_bytes)()};
  const std::size_t ordinals =
      sizeof(T) == 2
          ? 0
          : ordinal_samples * (sizeof(std::uint64_t) + sizeof(std::int32_t) + sizeof(std::uint16_t)) +
                sizeof(std::uint16_t) * sliding_columns * sliding_rows + 256;
  return {sliding_columns, sliding_rows, ordinals + (Sliding::counts * sizeof(std::uint16_t) + 63) / 64 * 64};
}

void filter_tile(const Tile<std::uint8_t>& t, std::byte* memory) {
  if (has_network(t.window))
    HWY_DYNAMIC_DISPATCH(network_u8)(t);
  else
    HWY_DYNAMIC_DISPATCH(histogram)(t, memory);
}

void filter_tile(const Tile<std::uint16_t>& t, std::byte* memory) {
  if (has_network(t.window))
    HWY_DYNAMIC_DISPATCH(network_u16)(t);
  else
    Sliding(reinterpret_cast<std::uint16_t*>(memory)).filter(t);
}

void filter_tile(const Tile<std::int32_t>& t, std::byte* memory) {
  if (has_network(t.window)) return HWY_DYNAMIC_DISPATCH(network_i32)(t);
  auto take = [&]<class P>(P*& p, std::size_t n) {
    p = reinterpret_cast<P*>(memory);
    memory += (n * sizeof(P) + 63) / 64 * 64;
  };
  const std::size_t count =
      static_cast<std::size_t>(t.in_pitch) * static_cast<std::size_t>(t.height + t.window.height - 1);
  std::uint64_t* pairs;
  std::int32_t* sorted;
  std::uint16_t *places, *out, *counts;
  take(pairs, count);
  take(sorted, count);
  take(places, count);
  take(out, static_cast<std::size_t>(sliding_columns) * sliding_rows);
  take(counts, Sliding::counts);
  to_ordinals(t.in, count, pairs, sorted, places);
  Sliding(counts).filter({t.window, t.width, t.height, places, t.in_pitch, out, sliding_columns});
  for (int y = 0; y < t.height; ++y)
    for (int x = 0; x < t.width; ++x) t.out[y * t.out_pitch + x] = sorted[out[y * sliding_columns + x]];
}

// Fills the tile's input from (x0, y0) on, continued by replication where the image ends.
template <class T>
void load_tile(const ImageView<float>& in, int x0, int y0, int columns, int rows, float levels_per_code,
               T* out) {
  const int from = std::clamp(-x0, 0, columns - 1), to = std::clamp(in.width - x0, from + 1, columns);
  for (int j = 0; j < rows; ++j, out += columns) {
    const float* row = in.row(std::clamp(y0 + j, 0, in.height - 1));
    // A tile that lies wholly beyond the image does not exist, but its window may on either side.
    convert(row + x0 + from, static_cast<std::size_t>(to - from), levels_per_code, out + from);
    std::fill(out, out + from, out[from]);
    std::fill(out + to, out + columns, out[to - 1]);
  }
}

template <class T>
void filter_plane(CpuJob& job, int c, const Window& w) {
  const auto method = method_for<T>(w);
  const auto in = job.in.channel[c], out = job.out.channel[c];
  const int across = (in.width + method.columns - 1) / method.columns;
  const int down = (in.height + method.rows - 1) / method.rows;
  const auto area = [](int width, int height) {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  };
  const std::size_t in_count = area(method.columns + w.width - 1, method.rows + w.height - 1) + slack;
  const std::size_t out_count = area(method.columns, method.rows) + slack;
  auto aligned = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  const std::size_t lane_bytes =
      aligned(in_count * sizeof(T)) + aligned(out_count * sizeof(T)) + aligned(method.bytes);
  auto* memory = job.scratch.items<std::byte>(0, lane_bytes * static_cast<std::size_t>(job.pool.lanes()));
  const float scale = job.codes.levels_per_code;
  job.pool.parallel_for(across * down, 1, [&](int begin, int end, int lane) {
    auto* bytes = memory + lane_bytes * static_cast<std::size_t>(lane);
    auto* samples = reinterpret_cast<T*>(bytes);
    auto* result = reinterpret_cast<T*>(bytes + aligned(in_count * sizeof(T)));
    for (int i = begin; i < end; ++i) {
      const int x0 = i % across * method.columns, y0 = i / across * method.rows;
      const int width = std::min(method.columns, in.width - x0),
                height = std::min(method.rows, in.height - y0);
      const int columns = width + w.width - 1;
      load_tile(in, x0 - w.width / 2, y0 - w.height / 2, columns, height + w.height - 1, scale, samples);
      filter_tile({w, width, height, samples, columns, result, method.columns},
                  bytes + aligned(in_count * sizeof(T)) + aligned(out_count * sizeof(T)));
      for (int y = 0; y < height; ++y)
        convert(result + y * method.columns, static_cast<std::size_t>(width), scale, out.row(y0 + y) + x0);
    }
  });
}

}  // namespace

void run_window_simd(CpuJob& job, const Window& window) {
  check_window(window);
  for (int c = 0; c < job.in.channels; ++c) {
    if (job.codes.max_code == 0)
      filter_plane<std::int32_t>(job, c, window);
    else if (job.codes.max_code <= 255)
      filter_plane<std::uint8_t>(job, c, window);
    else
      filter_plane<std::uint16_t>(job, c, window);
  }
}

void run_simd(CpuJob& job, const Params& p) { run_window_simd(job, window(p)); }

}  // namespace quietframe::median
#endif
