// Pipelines as users type them, run to their end: a test source stands in for a camera, and what a machine
// has no plugin for is skipped.
#include <fstream>

#include "element/pipeline.hpp"

namespace quietframe::test {
namespace {

// `typed` with the camera replaced by a test source.
std::string with_source(std::string typed, const std::string& source, const std::string& test_source) {
  typed.replace(typed.find(source), source.size(), test_source);
  return typed;
}

TEST(Pipelines, TestSourceToDisplay) {
  expect_frames(with_source("videotestsrc ! videodenoise ! autovideosink", "videotestsrc",
                            "videotestsrc num-buffers=10"),
                10);
}

TEST(Pipelines, CameraToDisplay) {
  expect_frames(with_source("v4l2src ! videodenoise ! videoconvert ! autovideosink", "v4l2src",
                            "videotestsrc is-live=true num-buffers=10"),
                10);
}

TEST(Pipelines, UltrasoundByCaptureCard) {
  expect_frames(with_source("v4l2src ! video/x-raw,format=YUY2,width=1920,height=1080,framerate=60/1 ! "
                            "videodenoise preset=ultrasound ! fakesink",
                            "v4l2src", "videotestsrc num-buffers=2"),
                2);
}

TEST(Pipelines, MachineVisionTwelveBits) {
  expect_frames(with_source("aravissrc ! video/x-raw,format=GRAY16_LE ! videodenoise bit-depth=12 ! fakesink",
                            "aravissrc", "videotestsrc num-buffers=5"),
                5);
}

// In NV12 and RGBA; GPUs without an encoder end in a sink that takes nothing but CUDAMemory.
TEST(Pipelines, StaysOnTheGpu) {
  if (!have({"cudaupload"})) GTEST_SKIP() << "no CUDA elements on this machine";
  const bool encoder = have({"nvh264enc"});
  for (const char* format : {"NV12", "RGBA"})
    expect_frames(std::string("videotestsrc num-buffers=10 ! video/x-raw,format=") + format +
                      " ! cudaupload ! videodenoise ! " +
                      (encoder ? "nvh264enc" : "video/x-raw(memory:CUDAMemory)") + " ! fakesink",
                  10);
  if (!encoder || !have({"nvh264dec"})) return;  // tests/gpu/cuda_memory.sh decodes a file that is given
  expect_frames(
      "videotestsrc num-buffers=10 ! nvh264enc ! h264parse ! nvh264dec ! videodenoise ! nvh264enc ! fakesink",
      10);
}

TEST(Pipelines, AppsrcToAppsink) {
  Pipeline p(
      "appsrc name=in caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1 format=time ! "
      "videodenoise ! appsink name=out");
  ASSERT_EQ(p.played().error, "");
  auto* in = gst_bin_get_by_name(GST_BIN(p.get()), "in");
  auto* out = gst_bin_get_by_name(GST_BIN(p.get()), "out");
  gst_element_set_state(p.get(), GST_STATE_PLAYING);
  Harness frames("", gray_caps);
  GstFlowReturn flow;
  for (unsigned i = 0; i < 5; ++i) {
    auto* frame = frames.frame(i);
    g_signal_emit_by_name(in, "push-buffer", frame, &flow);
    EXPECT_EQ(flow, GST_FLOW_OK);
    gst_buffer_unref(frame);
    GstSample* sample = nullptr;
    g_signal_emit_by_name(out, "try-pull-sample", limit, &sample);
    ASSERT_TRUE(sample) << i;
    EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(sample)), i * frame_time);
    gst_sample_unref(sample);
  }
  g_signal_emit_by_name(in, "end-of-stream", &flow);
  gst_object_unref(in);
  gst_object_unref(out);
}

TEST(Pipelines, FileThroughDecodebinToAnEncoder) {
  const Folder folder;
  write_clip(folder / "clip.avi", 20);
  const std::string encoder = have({"x264enc"}) ? "x264enc" : "jpegenc";
  expect_frames("filesrc location=" + (folder / "clip.avi") + " ! decodebin ! videodenoise ! " + encoder +
                    " ! fakesink",
                20);
}

TEST(Pipelines, OneBranchOfATee) {
  Pipeline p(
      "videotestsrc num-buffers=20 ! video/x-raw,format=GRAY8,width=64,height=48 ! tee name=t "
      "t. ! queue ! videodenoise filter=gaussian ! fakesink t. ! queue ! fakesink");
  EXPECT_EQ(p.play().error, "");
  EXPECT_EQ(p.played().frames, 20U);
}

TEST(Pipelines, BetweenTwoVideorates) {
  const auto played = play(
      "videotestsrc num-buffers=30 ! video/x-raw,framerate=30/1 ! videorate ! "
      "video/x-raw,framerate=60/1 ! videodenoise ! videorate ! video/x-raw,framerate=15/1 ! fakesink");
  EXPECT_EQ(played.error, "");
  EXPECT_NEAR(played.frames, 60, 2);
}

TEST(Pipelines, PlayedBackwards) {
  const Folder folder;
  write_clip(folder / "clip.avi", 25);
  Pipeline p("filesrc location=" + (folder / "clip.avi") +
             " ! avidemux ! jpegdec ! videodenoise filter=gaussian async-depth=4 ! fakesink sync=false");
  ASSERT_EQ(p.played().error, "");
  gst_element_set_state(p.get(), GST_STATE_PAUSED);
  p.wait_for(static_cast<GstMessageType>(GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR));
  ASSERT_EQ(p.played().error, "");
  ASSERT_TRUE(gst_element_seek(p.get(), -1.0, GST_FORMAT_TIME,
                               static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE),
                               GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, GST_SECOND));
  p.wait_for(static_cast<GstMessageType>(GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR));
  auto& times = p.played().times;
  const auto before_seek = times.size();
  EXPECT_EQ(p.play().error, "");
  EXPECT_GE(times.size(), 24U);
  EXPECT_LE(before_seek, 8U);
  for (std::size_t i = before_seek; i + 1 < times.size(); ++i) EXPECT_GT(times[i], times[i + 1]) << i;
}

// Pictures of other sizes one after another: the decoder changes caps in mid-stream.
TEST(Pipelines, SizeChangesInMidStream) {
  const Folder folder;
  const char* sizes[] = {"152x100", "640x320", "1280x720", "151x99"};
  int number = 0;
  for (const char* size : sizes)
    for (int i = 0; i < 3; ++i) {
      int w = 0, h = 0;
      std::sscanf(size, "%dx%d", &w, &h);
      const auto made =
          play("videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=" + std::to_string(w) +
               ",height=" + std::to_string(h) + " ! jpegenc ! filesink location=" +
               (folder / ("00" + std::to_string(number)).substr(number > 9 ? 1 : 0)) + ".jpg");
      ASSERT_EQ(made.error, "");
      ++number;
    }
  const auto played =
      play("multifilesrc location=" + (folder / "%03d.jpg") +
           " stop-index=11 caps=image/jpeg,framerate=25/1 ! jpegdec ! videodenoise filter=gaussian "
           "async-depth=4 ! fakesink");
  EXPECT_EQ(played.error, "");
  EXPECT_EQ(played.frames, 12U);
  EXPECT_EQ(played.sizes, std::vector<std::string>(std::begin(sizes), std::end(sizes)));
}

// The same with real H.264 streams, cut together: QF_REAL_MATERIAL names the folder that they are in.
TEST(Pipelines, SizeChangesInARealClip) {
  const char* material = g_getenv("QF_REAL_MATERIAL");
  if (!material || !std::filesystem::exists(material)) GTEST_SKIP() << "the real material is not there";
  if (!have({"h264parse", "avdec_h264"})) GTEST_SKIP() << "no decoder of H.264";
  const Folder folder;
  {
    std::ofstream clip(folder / "clip.264", std::ios::binary);
    for (const char* part :
         {"hard/video/Static.264", "camera/openh264/Cisco_Men_whisper_640x320_CAVLC_Bframe_9.264",
          "camera/openh264/Zhling_1280x720.264", "hard/video/Static.264"})
      clip << std::ifstream(std::filesystem::path(material) / part, std::ios::binary).rdbuf();
  }
  const auto played = play("filesrc location=" + (folder / "clip.264") +
                           " ! h264parse ! avdec_h264 ! videodenoise filter=gaussian ! fakesink");
  EXPECT_EQ(played.error, "");
  EXPECT_EQ(played.sizes, (std::vector<std::string>{"152x100", "640x320", "1280x720", "152x100"}));
}

TEST(Pipelines, OneElementAfterAnother) {
  for (int i = 0; i < 3; ++i)
    expect_frames(
        "videotestsrc num-buffers=10 ! videodenoise filter=gaussian ! videodenoise filter=median ! fakesink",
        10);
}

}  // namespace
}  // namespace quietframe::test
