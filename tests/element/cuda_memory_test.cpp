// memory:CUDAMemory on either side of the element, on the fake GPU with a fake GstCuda. (On a GPU, with the
// real one: tests/gpu/cuda_memory.sh.)
#include "element/harness.hpp"
#include "fake_cuda_library.hpp"

namespace quietframe::test {
namespace {

const std::string plain = "video/x-raw", cuda = "video/x-raw(memory:CUDAMemory)";
const std::string rest = ",format=NV12,width=64,height=34,framerate=50/1";

struct ObjectUnref {
  void operator()(void* p) const { gst_object_unref(p); }
};
using Context = std::unique_ptr<gst::CudaContext, ObjectUnref>;

class CudaMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gst::CudaLibrary::get()) GTEST_SKIP() << "only with the fake GPU";
  }

  static bool in_cuda_memory(GstBuffer* buffer) { return gst::cuda_context_of(buffer) != nullptr; }
  static std::string feature_of(GstPad* pad) {
    auto* caps = gst_pad_get_current_caps(pad);
    if (!caps) return "no caps";
    auto* text = gst_caps_features_to_string(gst_caps_get_features(caps, 0));
    std::string feature = text;
    g_free(text);
    gst_caps_unref(caps);
    return feature;
  }
  static std::string memory_path(Harness& h) {
    GstStructure* stats = nullptr;
    g_object_get(h.element(), "stats", &stats, nullptr);
    std::string path = gst_structure_get_string(stats, "memory-path");
    gst_structure_free(stats);
    return path;
  }
  // Bytes of frame 0..n-1 in system memory: what every other way must give.
  static std::vector<std::vector<std::uint8_t>> wanted(const std::string& settings, unsigned n) {
    std::vector<std::vector<std::uint8_t>> frames;
    Harness h(settings, plain + rest);
    for (unsigned i = 0; i < n; ++i) {
      h.push(i);
      frames.push_back(bytes(h.pull()));
    }
    return frames;
  }
};

TEST_F(CudaMemoryTest, FourCombinationsGiveTheSameBytes) {
  const auto expected = wanted("filter=gaussian async-depth=3", 8);
  const Context context(new_fake_context());
  for (const bool cuda_in : {false, true})
    for (const bool cuda_out : {false, true}) {
      SCOPED_TRACE(std::string(cuda_in ? "CUDA" : "system") + " in, " + (cuda_out ? "CUDA" : "system") +
                   " out");
      Harness h("filter=gaussian async-depth=3");
      gst_harness_set_sink_caps_str(h.get(), ((cuda_out ? cuda : plain) + rest).c_str());
      h.set_caps((cuda_in ? cuda : plain) + rest);
      for (unsigned i = 0; i < 8; ++i) {
        auto* frame = h.frame(i);
        ASSERT_EQ(h.push(cuda_in ? to_cuda_memory(frame, h.info(), context.get()) : frame), GST_FLOW_OK)
            << h.error();
      }
      h.eos();
      for (unsigned i = 0; i < 8; ++i) {
        const auto out = h.pull();
        ASSERT_TRUE(out);
        EXPECT_EQ(in_cuda_memory(out.get()), cuda_out);
        EXPECT_TRUE(!cuda_in || !cuda_out || gst::cuda_context_of(out.get()) == context.get());
        EXPECT_EQ(bytes(Buffer(from_cuda_memory(out.get(), h.info()))), expected[i]) << i;
      }
      EXPECT_EQ(memory_path(h), cuda_in && cuda_out ? "device" : cuda_in ? "direct" : "staged");
    }
}

TEST_F(CudaMemoryTest, OrdinaryPipelinesStayInSystemMemory) {
  Harness h("filter=gaussian", plain + rest);  // the harness's sink takes anything
  h.push(0U);
  EXPECT_FALSE(in_cuda_memory(h.pull().get()));
  EXPECT_EQ(fake_contexts(), 0);
}

TEST_F(CudaMemoryTest, WhatArrivesInCudaMemoryLeavesInItWhereThatIsTaken) {
  const Context context(new_fake_context());
  for (const char* settings : {"filter=gaussian", "filter=none"}) {
    Harness h(settings, cuda + rest);
    h.push(to_cuda_memory(h.frame(0), h.info(), context.get()));
    EXPECT_TRUE(in_cuda_memory(h.pull().get())) << settings;
  }
}

TEST_F(CudaMemoryTest, NothingToFilterButAnotherMemory) {
  const Context context(new_fake_context());
  Harness h("filter=none");
  gst_harness_set_sink_caps_str(h.get(), (plain + rest).c_str());
  h.set_caps(cuda + rest);
  auto* frame = h.frame(3);
  const auto before = bytes(frame);
  h.push(to_cuda_memory(frame, h.info(), context.get()));
  const auto out = h.pull();
  EXPECT_FALSE(in_cuda_memory(out.get()));
  EXPECT_EQ(bytes(Buffer(from_cuda_memory(out.get(), h.info()))), before);
}

TEST_F(CudaMemoryTest, TwoInARowPassCudaMemoryAndShareAContext) {
  const auto first = wanted("filter=gaussian", 4);
  auto* harness = gst_harness_new_parse(
      "videodenoise name=a backend=cuda filter=gaussian ! videodenoise name=b backend=cuda filter=none");
  auto* a = gst_bin_get_by_name(GST_BIN(harness->element), "a");
  auto* pad = gst_element_get_static_pad(a, "src");
  gst_harness_set_sink_caps_str(harness, (plain + rest).c_str());
  gst_harness_set_src_caps_str(harness, (plain + rest).c_str());
  Harness frames("", plain + rest);
  for (unsigned i = 0; i < 4; ++i) {
    ASSERT_EQ(gst_harness_push(harness, frames.frame(i)), GST_FLOW_OK);
    const Buffer out(gst_harness_pull(harness));
    EXPECT_EQ(bytes(out), first[i]);
  }
  EXPECT_EQ(feature_of(pad), "memory:CUDAMemory");
  EXPECT_EQ(fake_contexts(), 1);
  gst_object_unref(pad);
  gst_object_unref(a);
  gst_harness_teardown(harness);
  EXPECT_EQ(fake_contexts(), 0);
}

// cudadownload passes buffers on so when downstream takes GstVideoMeta.
TEST_F(CudaMemoryTest, CudaMemoryUnderPlainCapsIsReadOnTheDevice) {
  const auto expected = wanted("filter=gaussian", 3);
  const Context context(new_fake_context());
  Harness h("filter=gaussian", plain + rest);
  for (unsigned i = 0; i < 3; ++i) {
    h.push(to_cuda_memory(h.frame(i), h.info(), context.get()));
    EXPECT_EQ(bytes(h.pull()), expected[i]);
  }
  EXPECT_EQ(memory_path(h), "direct");
}

TEST_F(CudaMemoryTest, FramesOfAnotherContextAreFollowed) {
  const auto expected = wanted("filter=gaussian", 6);
  const Context contexts[] = {Context(new_fake_context()), Context(new_fake_context())};
  Harness h("filter=gaussian async-depth=4", cuda + rest);
  for (unsigned i = 0; i < 6; ++i) h.push(to_cuda_memory(h.frame(i), h.info(), contexts[i / 2 % 2].get()));
  h.eos();
  for (unsigned i = 0; i < 6; ++i) {
    const auto out = h.pull();
    ASSERT_TRUE(out) << h.error();
    EXPECT_EQ(gst::cuda_context_of(out.get()), contexts[i / 2 % 2].get()) << i;
    EXPECT_EQ(bytes(Buffer(from_cuda_memory(out.get(), h.info()))), expected[i]) << i;
  }
}

TEST_F(CudaMemoryTest, FormatsThatGstCudaHasNotAreRefused) {
  Harness h("filter=gaussian");
  auto* pad = gst_element_get_static_pad(h.element(), "sink");
  for (const auto& [format, accepted] :
       {std::pair{"NV12", true}, {"RGB", true}, {"GRAY8", false}, {"YUY2", false}}) {
    auto* caps =
        gst_caps_from_string((cuda + ",format=" + format + ",width=64,height=48,framerate=50/1").c_str());
    EXPECT_EQ(gst_pad_query_accept_caps(pad, caps), accepted) << format;
    gst_caps_unref(caps);
  }
  gst_object_unref(pad);
}

}  // namespace
}  // namespace quietframe::test
