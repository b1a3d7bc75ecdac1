// Frames in device memory through the CUDA processor, on a fake GPU: nothing crosses the bus on that side,
// contexts are left as they were found, and other elements' work comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cuda/cuda_processor.hpp"
#include "fake_runtime.hpp"

namespace quietframe::cuda {
namespace {

const FrameFormat format{PixelFormat::nv12, 64, 16, 0};

class DeviceFramesTest : public ::testing::Test {
 protected:
  void SetUp() override { replace_runtime(&runtime_); }
  void TearDown() override {
    processor_.reset();
    memory_.clear();
    EXPECT_EQ(runtime_.live(), 0U) << "handles or memory leaked";
    EXPECT_EQ(runtime_.misuses, 0);
    EXPECT_EQ(runtime_.pushed, 0) << "a context was left current";
    replace_runtime(nullptr);
  }
  CudaProcessor& processor() {
    if (!processor_) processor_ = std::make_unique<CudaProcessor>(Device{0, "Fake GPU", 1, 9, 0, 1U << 30});
    return *processor_;
  }

  // A frame in the fake's device memory (which is host memory to the test) or in pinned memory, filled.
  Frame frame(MemoryKind kind, int fill) {
    void* p = nullptr;
    const auto bytes = pack_frame(format, nullptr, nullptr);
    EXPECT_EQ(kind == MemoryKind::device ? runtime_.device_alloc(&p, bytes) : runtime_.host_alloc(&p, bytes),
              0);
    auto* data = static_cast<std::byte*>(p);
    memory_.emplace_back(data, Free{this, kind});
    std::memset(data, fill, bytes);
    Frame f;
    pack_frame(format, data, &f);
    f.memory = kind;
    return f;
  }
  static bool holds(const Frame& f, int value) {
    return std::all_of(f.plane[0], f.plane[0] + pack_frame(format, nullptr, nullptr),
                       [&](std::byte b) { return b == static_cast<std::byte>(value); });
  }
  // No filter: samples pass as they are.
  FrameReport pass(const Frame& in, const Frame& out) {
    return processor().wait(processor().submit(in, out, FrameSettings{}));
  }

  FakeRuntime runtime_;

 private:
  struct Free {
    DeviceFramesTest* test;
    MemoryKind kind;
    void operator()(std::byte* p) const {
      kind == MemoryKind::device ? test->runtime_.device_free(p) : test->runtime_.host_free(p);
    }
  };
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
  std::unique_ptr<CudaProcessor> processor_;
};

TEST_F(DeviceFramesTest, EveryCombinationAtEveryAddress) {
  processor().configure(format, 2);
  const MemoryKind kinds[] = {MemoryKind::device, MemoryKind::pinned, MemoryKind::pageable};
  const MemoryPath paths[3][3] = {{MemoryPath::device, MemoryPath::direct, MemoryPath::staged},
                                  {MemoryPath::direct, MemoryPath::direct, MemoryPath::staged},
                                  {MemoryPath::staged, MemoryPath::staged, MemoryPath::staged}};
  int value = 1;
  for (int again = 0; again < 3; ++again)
    for (int i = 0; i < 3; ++i)
      for (int o = 0; o < 3; ++o, ++value) {
        const auto in = frame(kinds[i], value), out = frame(kinds[o], 0);
        EXPECT_EQ(pass(in, out).path, paths[i][o]);
        EXPECT_TRUE(holds(out, value)) << i << " " << o;
      }
}

TEST_F(DeviceFramesTest, NothingIsCopiedBetweenDeviceFrames) {
  processor().configure(format, 1);
  runtime_.copy_takes = std::chrono::seconds(1);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 1; i < 4; ++i) {
    const auto in = frame(MemoryKind::device, i), out = frame(MemoryKind::device, 0);
    pass(in, out);
    EXPECT_TRUE(holds(out, i));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(runtime_.captures, 0);
}

TEST_F(DeviceFramesTest, OtherElementsWorkComesFirst) {
  processor().configure(format, 1);
  cudaStream_t theirs = nullptr;
  ASSERT_EQ(runtime_.stream_create(&theirs), 0);
  const auto in = frame(MemoryKind::device, 1), out = frame(MemoryKind::device, 0);
  std::atomic<bool> go = false;
  runtime_.enqueue(theirs, [&] {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::memset(in.plane[0], 7, pack_frame(format, nullptr, nullptr));
  });
  processor().start_after(theirs);
  const auto n = processor().submit(in, out, FrameSettings{});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  go = true;
  processor().wait(n);
  EXPECT_TRUE(holds(out, 7));
  // It holds for one frame: this one does not wait for what is on the stream now.
  go = false;
  runtime_.enqueue(theirs, [&] {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  pass(in, out);
  go = true;
  runtime_.stream_destroy(theirs);
}

TEST_F(DeviceFramesTest, AnotherContextTakesEverythingAlong) {
  CUcontext other = nullptr;
  runtime_.devices = 2;
  ASSERT_EQ(runtime_.primary_context(1, &other), 0);
  const auto in = frame(MemoryKind::pinned, 5), out = frame(MemoryKind::device, 0);
  processor().configure(format, 3);
  pass(in, out);
  const auto live = runtime_.live();
  processor().use_context(other);
  EXPECT_LT(runtime_.live(), live);
  EXPECT_THROW(processor().submit(in, out, FrameSettings{}), Error);
  processor().configure(format, 3);
  EXPECT_EQ(runtime_.live(), live);
  EXPECT_EQ(runtime_.current, other);
  pass(in, out);
  EXPECT_TRUE(holds(out, 5));
}

TEST_F(DeviceFramesTest, PageLockedMemoryBelongsToTheProcessorsDevice) {
  runtime_.devices = 2;
  const CudaProcessor second({1, "Fake GPU", 1, 9, 0, 1U << 30});
  CUcontext wanted = nullptr;
  ASSERT_EQ(runtime_.primary_context(1, &wanted), 0);
  void* p = host_alloc(4096);
  ASSERT_TRUE(p);
  EXPECT_EQ(runtime_.current, wanted);
  host_free(p);
}

}  // namespace
}  // namespace quietframe::cuda
