// Checks on a GPU that the CUDA median equals the CPU definition bit for bit: every odd window, type, method,
// hostile sizes and contents, odd 4K, strides, layouts, ranks and strengths. Prints what it ran; exits 1 at a
// difference, 77 without a GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "filters/median/cuda_methods.hpp"
#include "median_frames.hpp"

namespace quietframe::testing {
namespace {

using median::Method;
using median::Window;

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(code));
  std::exit(2);
}

struct Case {
  FrameFormat format;
  Window window;
  Content content;
  float strength = 1.f;
  int padding = 0;
};

/// Floats compare as bits, but any NaN equals any other.
bool same(const GroupView& a, const GroupView& b) {
  const std::size_t bytes = a.type == SampleType::u8 ? 1 : a.type == SampleType::f32 ? 4 : 2;
  for (int c = 0; c < a.channels; ++c)
    for (int y = 0; y < a.height; ++y)
      for (int x = 0; x < a.width; ++x) {
        const auto* p = a.channel[c] + y * a.stride[c] + std::ptrdiff_t{x} * a.step;
        const auto* q = b.channel[c] + y * b.stride[c] + std::ptrdiff_t{x} * b.step;
        if (std::memcmp(p, q, bytes) == 0) continue;
        if (a.type == SampleType::f32 && std::isnan(*reinterpret_cast<const float*>(p)) &&
            std::isnan(*reinterpret_cast<const float*>(q)))
          continue;
        std::printf("  first difference at channel %d (%d, %d)\n", c, x, y);
        return false;
      }
  return true;
}

class Checker {
 public:
  /// Every method that can run the case, against the definition; guard bytes between rows must survive.
  void run(const Case& k) {
    PaddedFrame in(k.format, k.padding, std::byte{0x3c});
    PaddedFrame expected(k.format, k.padding, std::byte{0xa5}), got(k.format, k.padding, std::byte{0xa5});
    fill_frame(in, k.content, static_cast<unsigned>(++seed_));
    const auto& info = format_info(k.format.format);
    for (int g = 0; g < info.groups; ++g)
      reference_.filter(group_view(in.frame, g), group_view(expected.frame, g), k.window, k.strength);
    std::byte *device_in = nullptr, *device_out = nullptr;
    check(cudaMalloc(&device_in, in.bytes.size()), "cudaMalloc");
    check(cudaMalloc(&device_out, in.bytes.size()), "cudaMalloc");
    check(cudaMemcpy(device_in, in.bytes.data(), in.bytes.size(), cudaMemcpyDefault), "upload");
    for (const Method m : median::all_methods) {
      bool ran = false;
      check(cudaMemset(device_out, 0xa5, in.bytes.size()), "fill");
      for (int g = 0; g < info.groups; ++g) {
        const auto from = group_view(in.at(device_in), g), to = group_view(got.at(device_out), g);
        if (!median::can_run(m, k.window, from.type)) continue;
        median::run_method(m, {from, to, k.window, k.strength}, nullptr);
        check(cudaGetLastError(), to_string(m));
        ran = true;
      }
      if (!ran) continue;
      check(cudaMemcpy(got.bytes.data(), device_out, got.bytes.size(), cudaMemcpyDefault), to_string(m));
      compare(k, m, expected, got);
    }
    cudaFree(device_in);
    cudaFree(device_out);
  }

  /// Frames too large for the definition: it is asked for some pixels, borders among them, and all methods
  /// must give the same bytes everywhere.
  void run_large(const Case& k) {
    PaddedFrame in(k.format, k.padding, std::byte{0}), first(k.format, k.padding, std::byte{0});
    PaddedFrame got(k.format, k.padding, std::byte{0});
    fill_frame(in, k.content, static_cast<unsigned>(++seed_));
    std::byte *device_in = nullptr, *device_out = nullptr;
    check(cudaMalloc(&device_in, in.bytes.size()), "cudaMalloc");
    check(cudaMalloc(&device_out, in.bytes.size()), "cudaMalloc");
    check(cudaMemcpy(device_in, in.bytes.data(), in.bytes.size(), cudaMemcpyDefault), "upload");
    check(cudaMemset(device_out, 0, in.bytes.size()), "fill");
    bool have_first = false;
    for (const Method m : median::all_methods) {
      const auto from = group_view(in.at(device_in), 0), to = group_view(got.at(device_out), 0);
      if (!median::can_run(m, k.window, from.type)) continue;
      median::run_method(m, {from, to, k.window, k.strength}, nullptr);
      check(cudaGetLastError(), to_string(m));
      auto& result = have_first ? got : first;
      check(cudaMemcpy(result.bytes.data(), device_out, result.bytes.size(), cudaMemcpyDefault),
            to_string(m));
      if (have_first)
        compare(k, m, first, got);
      else
        check_pixels(k, m, group_view(in.frame, 0), group_view(first.frame, 0));
      have_first = true;
    }
    cudaFree(device_in);
    cudaFree(device_out);
  }

  int finish() const {
    std::printf("%d comparisons, %d failures\n", comparisons_, failures_);
    return failures_ != 0;
  }

 private:
  void check_pixels(const Case& k, Method m, const GroupView& in, const GroupView& out) {
    ++comparisons_;
    std::mt19937 random(static_cast<unsigned>(seed_));
    auto place = [&](int size) {
      const int at = static_cast<int>(random() % static_cast<unsigned>(size));
      return random() % 4 == 0 ? (at % 2 == 0 ? 0 : size - 1) : at;
    };
    std::vector<std::int64_t> keys;
    for (int n = 0; n < 1000; ++n) {
      const int x = place(in.width), y = place(in.height);
      keys.clear();
      for (int j = -k.window.height / 2; j <= k.window.height / 2; ++j)
        for (int i = -k.window.width / 2; i <= k.window.width / 2; ++i)
          keys.push_back(
              order_of(in, std::clamp(x + i, 0, in.width - 1), std::clamp(y + j, 0, in.height - 1)));
      std::nth_element(keys.begin(), keys.begin() + k.window.rank, keys.end());
      if (keys[static_cast<std::size_t>(k.window.rank)] == order_of(out, x, y)) continue;
      std::printf("DIFFERS at (%d, %d): %dx%d, window %d, method %s\n", x, y, in.width, in.height,
                  k.window.width, to_string(m));
      ++failures_;
      return;
    }
  }
  static std::int64_t order_of(const GroupView& v, int x, int y) {
    const std::byte* p = v.channel[0] + y * v.stride[0] + std::ptrdiff_t{x} * v.step;
    return with_sample_type(v.type, [&]<SampleType S>() -> std::int64_t {
      if constexpr (S == SampleType::f32)
        return median::order_key(*reinterpret_cast<const float*>(p));
      else
        return load_code<S>(p, v.shift);
    });
  }

  void compare(const Case& k, Method m, const PaddedFrame& expected, const PaddedFrame& got) {
    ++comparisons_;
    bool good = true;
    const auto& info = format_info(k.format.format);
    if (info.type == SampleType::f32)
      for (int g = 0; g < info.groups; ++g)
        good = good && same(group_view(expected.frame, g), group_view(got.frame, g));
    else
      good = expected.bytes == got.bytes;
    if (good) return;
    std::printf("DIFFERS: %s %dx%d padding %d, window %dx%d rank %d, %s, strength %g, method %s\n", info.name,
                k.format.width, k.format.height, k.padding, k.window.width, k.window.height, k.window.rank,
                to_string(k.content), static_cast<double>(k.strength), to_string(m));
    for (int g = 0; g < info.groups; ++g) same(group_view(expected.frame, g), group_view(got.frame, g));
    if (++failures_ == 20) std::exit(finish());
  }

  Reference reference_;
  int seed_ = 0, comparisons_ = 0, failures_ = 0;
};

Window middle(int w, int h) { return {w, h, (w * h - 1) / 2}; }

void check_windows(Checker& checker, int step) {
  constexpr PixelFormat formats[] = {PixelFormat::gray8, PixelFormat::gray16_le, PixelFormat::gray_f32};
  for (int k = 3; k <= median::max_window; k += step)
    for (const auto format : formats) {
      for (const auto content : all_contents)
        checker.run({{format, 83, 41, 0}, middle(k, k), content, 1.f, 3});
      checker.run({{format, 1, 1, 0}, middle(k, k), Content::random});
      checker.run({{format, 1, 37, 0}, middle(k, k), Content::random, 1.f, 1});
      checker.run({{format, 130, 1, 0}, middle(k, k), Content::random});
      checker.run({{format, 1037, 6, 0}, middle(k, k), Content::random, 1.f, 5});
    }
}

void check_large_frames(Checker& checker, int step) {
  constexpr PixelFormat formats[] = {PixelFormat::gray8, PixelFormat::gray16_le, PixelFormat::gray_f32};
  for (int k = 3; k <= median::max_window; k += step)
    for (const auto format : formats)
      checker.run_large({{format, 3841, 2161, 0}, middle(k, k), Content::random, 1.f, k % 3});
}

void check_shapes_and_ranks(Checker& checker) {
  for (const auto format : {PixelFormat::gray8, PixelFormat::gray16_le, PixelFormat::gray_f32}) {
    for (const auto& [w, h] :
         {std::pair{1, 1}, {3, 1}, {1, 3}, {5, 3}, {3, 9}, {75, 1}, {1, 75}, {21, 7}, {7, 31}})
      checker.run({{format, 67, 35, 0}, middle(w, h), Content::random, 1.f, 1});
    for (const int k : {3, 5, 9, 21, 37})
      for (const int rank : {0, 1, k * k / 5, k * k - 2, k * k - 1})
        checker.run({{format, 67, 35, 0}, {k, k, rank}, Content::random});
  }
}

void check_formats(Checker& checker) {
  for (const auto& info : all_formats())
    for (const int k : {3, 5, 7, 11, 25})
      for (const float strength : {1.f, 0.4f})
        checker.run({{info.format, 101, 43, 0}, middle(k, k), Content::special, strength, 2});
  for (const int depth : {9, 12})
    checker.run({{PixelFormat::gray16_be, 50, 20, depth}, middle(5, 5), Content::special, 0.7f});
}

}  // namespace
}  // namespace quietframe::testing

int main(int argc, char** argv) {
  using namespace quietframe::testing;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no CUDA device: skipped\n");
    return 77;
  }
  Checker checker;
  // `median-check 12`: every 12th window only and no large frames, for slow tools such as compute-sanitizer.
  const int step = argc > 1 ? std::atoi(argv[1]) : 2;
  if (step < 2 || step % 2 != 0) {
    std::printf("median-check: a step of %d: it must be even, because windows are odd\n", step);
    return 2;
  }
  check_windows(checker, step);
  if (step == 2) check_large_frames(checker, step);
  check_shapes_and_ranks(checker);
  check_formats(checker);
  return checker.finish();
}
