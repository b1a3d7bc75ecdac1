// The CPU processor allocates nothing per frame once it is configured and every filter has had its first
// frames. Linked with --wrap for malloc and its kin, so that those of the kernels library are counted too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include "processor.hpp"

namespace {

std::atomic<int> allocations = 0;

}  // namespace

extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* p, std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
int __real_posix_memalign(void** p, std::size_t alignment, std::size_t bytes);

void* __wrap_malloc(std::size_t bytes) {
  ++allocations;
  return __real_malloc(bytes);
}
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __real_calloc(count, bytes);
}
void* __wrap_realloc(void* p, std::size_t bytes) {
  ++allocations;
  return __real_realloc(p, bytes);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __real_aligned_alloc(alignment, bytes);
}
int __wrap_posix_memalign(void** p, std::size_t alignment, std::size_t bytes) {
  ++allocations;
  return __real_posix_memalign(p, alignment, bytes);
}
}

// The array and nothrow forms come here too. Not inline: GCC would see new end in free, and object.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* p = std::malloc(bytes > 0 ? bytes : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace quietframe {
namespace {

class Frames {
 public:
  Frames(const FrameFormat& format, int slots) : bytes_(pack_frame(format, nullptr, nullptr)) {
    for (int i = 0; i < slots; ++i) {
      in_.emplace_back(bytes_, std::byte{0x40});
      out_.emplace_back(bytes_);
    }
    in.resize(in_.size());
    out.resize(in_.size());
    for (std::size_t i = 0; i < in_.size(); ++i) {
      // Not constant: the estimate of the noise is to have something to do.
      for (std::size_t k = 0; k < bytes_; k += 3) in_[i][k] = static_cast<std::byte>((k * 7 + i) % 64);
      pack_frame(format, in_[i].data(), &in[i]);
      pack_frame(format, out_[i].data(), &out[i]);
    }
  }
  std::vector<Frame> in, out;

 private:
  std::size_t bytes_;
  std::vector<std::vector<std::byte>> in_, out_;
};

// Keeps every slot full for that many rounds.
void run(Processor& processor, const Frames& frames, FrameSettings& settings, int rounds) {
  const auto slots = frames.in.size();
  std::uint64_t number = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < slots; ++i) {
      settings.stream_time += 40000000;
      number = processor.submit(frames.in[i], frames.out[i], settings);
    }
    for (std::size_t i = 0; i < slots; ++i) processor.wait(number - slots + 1 + i);
  }
}

int allocations_in_steady_state(CpuProgram program, PixelFormat pixel_format, FrameSettings settings) {
  constexpr int slots = 3;
  const FrameFormat format{pixel_format, 70, 67, 0};
  const Frames frames(format, slots);
  auto processor = make_cpu_processor(2, program);
  processor->configure(format, slots);
  run(*processor, frames, settings, 2);
  const int before = allocations;
  run(*processor, frames, settings, 3);
  return allocations - before;
}

TEST(Allocations, CountsThem) {
  const int before = allocations;
  ::operator delete(::operator new(1));  // a new-expression may be left out
  EXPECT_EQ(allocations, before + 1);
  // The library's: a processor and its threads.
  make_cpu_processor(1)->configure({PixelFormat::gray8, 64, 64, 0}, 1);
  EXPECT_GT(allocations, before + 4);
}

TEST(Allocations, NonePerFrameInSteadyState) {
  for (const auto& filter : all_filters())
    for (const auto program : {CpuProgram::fastest, CpuProgram::definition})
      for (const auto format :
           {PixelFormat::gray8, PixelFormat::gray16_le, PixelFormat::nv12, PixelFormat::rgba})
        for (const auto estimate : {NoiseEstimate::exact, NoiseEstimate::smoothed}) {
          auto settings = default_settings(filter);
          settings.common.noise_estimate = estimate;
          EXPECT_EQ(allocations_in_steady_state(program, format, settings), 0)
              << filter.name << (program == CpuProgram::definition ? ", definition, " : ", ")
              << format_info(format).name << (estimate == NoiseEstimate::exact ? ", exact" : ", smoothed");
        }
}

TEST(Allocations, NoneWithFramesBeforeAndManyLevels) {
  auto settings = default_settings(*find_filter("nlm"));
  for (const auto& row : settings.filter->params)
    if (std::string(row.name) == "temporal-radius") row.set(settings.params.data(), 3);
  EXPECT_EQ(allocations_in_steady_state(CpuProgram::fastest, PixelFormat::gray8, settings), 0);
  settings = default_settings(*find_filter("wavelet"));
  for (const auto& row : settings.filter->params)
    if (std::string(row.name) == "levels") row.set(settings.params.data(), 5);
  EXPECT_EQ(allocations_in_steady_state(CpuProgram::fastest, PixelFormat::gray8, settings), 0);
}

}  // namespace
}  // namespace quietframe
