// The host allocator by itself; the plugin is not loaded here, for both would register its type.
#include "allocator.hpp"

#include <gst/gst.h>
#include <gtest/gtest.h>

namespace quietframe::test {
namespace {

class AllocatorTest : public ::testing::Test {
 protected:
  AllocatorTest() : allocator_(gst::host_allocator(gst::HostMemoryKind::ordinary)) {
    gst::host_allocator_use(allocator_);
  }
  ~AllocatorTest() override {
    gst::host_allocator_unuse(allocator_);
    gst_object_unref(allocator_);
  }
  GstAllocator* allocator_;
};

TEST_F(AllocatorTest, BlocksAreReusedBySize) {
  const auto before = gst::host_allocator_counts(allocator_).system_allocations;
  for (int i = 0; i < 200; ++i) gst_memory_unref(gst_allocator_alloc(allocator_, 123456, nullptr));
  EXPECT_EQ(gst::host_allocator_counts(allocator_).system_allocations, before + 1);
  EXPECT_EQ(gst::host_allocator_counts(allocator_).cached_blocks, 1U);
}

TEST_F(AllocatorTest, AlignmentPrefixAndPaddingAreHonoured) {
  for (const gsize align : {0, 15, 63, 127, 4095, 65535}) {
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    params.align = align;
    params.prefix = 100;
    params.padding = 50;
    params.flags = static_cast<GstMemoryFlags>(GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED);
    auto* memory = gst_allocator_alloc(allocator_, 1000, &params);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->size, 1000U);
    EXPECT_EQ(memory->offset, 100U);
    EXPECT_GE(memory->maxsize, 1150U);
    GstMapInfo map;
    ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_WRITE));
    const auto* start = map.data - 100;
    EXPECT_EQ(reinterpret_cast<guintptr>(start) & align, 0U);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(start[i], 0);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(map.data[1000 + i], 0);
    gst_memory_unmap(memory, &map);
    gst_memory_unref(memory);
  }
}

TEST_F(AllocatorTest, SharesSeeTheSameBytesAndKeepThemAlive) {
  auto* memory = gst_allocator_alloc(allocator_, 1000, nullptr);
  GstMapInfo map;
  gst_memory_map(memory, &map, GST_MAP_WRITE);
  for (int i = 0; i < 1000; ++i) map.data[i] = static_cast<guint8>(i);
  gst_memory_unmap(memory, &map);
  auto* a = gst_memory_share(memory, 200, 100);
  auto* b = gst_memory_share(a, 100, -1);  // beyond a, to the end of the memory
  gst_memory_unref(memory);
  gst_memory_map(a, &map, GST_MAP_READ);
  EXPECT_EQ(map.size, 100U);
  EXPECT_EQ(map.data[0], 200);
  gst_memory_unmap(a, &map);
  gsize offset = 0;
  EXPECT_TRUE(gst_memory_is_span(a, b, &offset));
  EXPECT_EQ(offset, 200U);
  gst_memory_unref(a);
  gst_memory_unref(b);
}

TEST_F(AllocatorTest, AnAbsurdSizeIsRefused) {
  EXPECT_FALSE(gst_allocator_alloc(allocator_, ~gsize{0} - 10, nullptr));
}

}  // namespace
}  // namespace quietframe::test
