// Negotiation: every format and odd sizes pass, what cannot be filtered is refused with the reason.
#include "cuda/device.hpp"
#include "element/harness.hpp"
#include "pixel_format.hpp"

namespace quietframe::test {
namespace {

std::string caps_of(const char* format, int width, int height, const char* more = "") {
  return std::string("video/x-raw,format=") + format + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=50/1" + more;
}

// The kernels' table says where each component lies; GStreamer must agree, or chroma is filtered as luma.
TEST(Caps, TheFormatTableAgreesWithGStreamer) {
  for (const auto& info : all_formats()) {
    if (info.type == SampleType::f32) continue;
    const auto format = gst_video_format_from_string(info.name);
    ASSERT_NE(format, GST_VIDEO_FORMAT_UNKNOWN) << info.name;
    const auto* gst = gst_video_format_get_info(format);
    EXPECT_EQ(GST_VIDEO_FORMAT_INFO_N_PLANES(gst), static_cast<guint>(info.planes)) << info.name;
    guint component = 0;
    for (int g = 0; g < info.groups; ++g)
      for (int c = 0; c < info.group[g].channels; ++c, ++component) {
        const auto& group = info.group[g];
        EXPECT_EQ(GST_VIDEO_FORMAT_INFO_PLANE(gst, component), static_cast<guint>(group.channel[c].plane))
            << info.name;
        // GStreamer gives P010's V an offset of one byte, and reads it at two as everybody does.
        if (info.format != PixelFormat::p010_10le) {
          EXPECT_EQ(GST_VIDEO_FORMAT_INFO_POFFSET(gst, component),
                    static_cast<guint>(group.channel[c].offset))
              << info.name;
        }
        EXPECT_EQ(GST_VIDEO_FORMAT_INFO_PSTRIDE(gst, component), group.step) << info.name;
        EXPECT_EQ(GST_VIDEO_FORMAT_INFO_W_SUB(gst, component), static_cast<guint>(group.sub_x)) << info.name;
        EXPECT_EQ(GST_VIDEO_FORMAT_INFO_H_SUB(gst, component), static_cast<guint>(group.sub_y)) << info.name;
        EXPECT_EQ(GST_VIDEO_FORMAT_INFO_DEPTH(gst, component), static_cast<guint>(info.depth)) << info.name;
        EXPECT_EQ(GST_VIDEO_FORMAT_INFO_SHIFT(gst, component), static_cast<guint>(info.shift)) << info.name;
      }
  }
}

TEST(Caps, EveryFormatAndHostileSizePasses) {
  for (const auto& info : all_formats()) {
    if (info.type == SampleType::f32) continue;
    for (const auto& [w, h] : {std::pair{1, 1}, {1, 7}, {7, 1}, {2, 2}, {3, 3}, {38, 19}, {641, 5}}) {
      Harness harness("filter=wavelet", caps_of(info.name, w, h));
      ASSERT_EQ(harness.push(0U), GST_FLOW_OK)
          << info.name << " " << w << "x" << h << ": " << harness.error();
      const auto out = harness.pull();
      ASSERT_TRUE(out) << info.name << " " << w << "x" << h << ": " << harness.error();
      EXPECT_GE(gst_buffer_get_size(out.get()), harness.info().size);
    }
  }
}

TEST(Caps, UnknownColorimetryAndZeroFramerateAreFine) {
  for (const char* more : {",colorimetry=bt2020", ",colorimetry=(string)5:7:99:99", ",pixel-aspect-ratio=4/3",
                           ",chroma-site=jpeg", ",multiview-mode=mono"}) {
    Harness h("filter=gaussian", caps_of("I420", 32, 32, more));
    ASSERT_EQ(h.push(0U), GST_FLOW_OK) << more;
    EXPECT_TRUE(h.pull());
  }
  Harness h("filter=gaussian", "video/x-raw,format=GRAY8,width=32,height=32,framerate=0/1");
  ASSERT_EQ(h.push(0U), GST_FLOW_OK);
  EXPECT_TRUE(h.pull());
}

bool accepts(const std::string& text) {
  Harness h;
  auto* caps = gst_caps_from_string(text.c_str());
  auto* pad = gst_element_get_static_pad(h.element(), "sink");
  const bool yes = gst_pad_query_accept_caps(pad, caps);
  auto* possible = gst_pad_query_caps(pad, caps);
  EXPECT_EQ(gst_caps_is_empty(possible), !yes) << text;
  gst_caps_unref(possible);
  gst_object_unref(pad);
  gst_caps_unref(caps);
  return yes;
}

TEST(Caps, WhatCannotBeFilteredIsRefused) {
  EXPECT_TRUE(accepts(caps_of("NV12", 64, 48)));
  EXPECT_TRUE(accepts(caps_of("NV12", 64, 48, ",interlace-mode=progressive")));
  EXPECT_FALSE(accepts(caps_of("AYUV", 64, 48)));
  EXPECT_FALSE(accepts(caps_of("NV12", 64, 48, ",interlace-mode=interleaved")));
  EXPECT_FALSE(accepts(caps_of("NV12", 64, 48, ",interlace-mode=mixed")));
  EXPECT_FALSE(accepts(caps_of("GRAY8", 40000, 48)));
  EXPECT_FALSE(accepts("video/x-raw(memory:DMABuf),format=NV12,width=64,height=48,framerate=25/1"));
}

// What cannot be filtered passes all the same while nothing is to be filtered, and is an error after that.
TEST(Caps, UntouchedFramesMayBeAnythingInAnyMemory) {
  for (const std::string caps :
       {"video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48,framerate=50/1",
        "video/x-raw,format=AYUV64,width=64,height=48,framerate=50/1",
        "video/x-raw,format=NV12,interlace-mode=interleaved,width=64,height=48,framerate=50/1"}) {
    for (const char* neutral : {"filter=none", "filter=median strength=0"}) {
      Harness h(neutral, caps);
      auto* frame = h.frame(0);
      ASSERT_EQ(h.push(frame), GST_FLOW_OK) << caps << h.error();
      const auto out = h.pull();
      EXPECT_EQ(out.get(), frame) << caps;
      h.set("strength", "1");
      h.set("filter", "gaussian");
      EXPECT_EQ(h.push(1U), GST_FLOW_ERROR) << caps;
      EXPECT_NE(h.error().find("cannot be filtered"), std::string::npos) << caps;
    }
  }
}

TEST(Caps, FixationKeepsSizeAndFormatOnBothSides) {
  GError* error = nullptr;
  auto* pipeline = gst_parse_launch(("videotestsrc num-buffers=1 ! videodenoise backend=" + backend() +
                                     " ! video/x-raw,format=P010_10LE,width=45,height=31 ! fakesink name=s")
                                        .c_str(),
                                    &error);
  ASSERT_TRUE(pipeline && !error);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  ASSERT_EQ(gst_element_get_state(pipeline, nullptr, nullptr, 20 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  auto* sink = gst_bin_get_by_name(GST_BIN(pipeline), "s");
  auto* pad = gst_element_get_static_pad(sink, "sink");
  auto* caps = gst_pad_get_current_caps(pad);
  ASSERT_TRUE(caps);
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, caps));
  EXPECT_EQ(info.width, 45);
  EXPECT_EQ(info.height, 31);
  EXPECT_EQ(GST_VIDEO_INFO_FORMAT(&info), GST_VIDEO_FORMAT_P010_10LE);
  gst_caps_unref(caps);
  gst_object_unref(pad);
  gst_object_unref(sink);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

TEST(Caps, BackendCudaWithoutCudaIsAnErrorThatSaysSo) {
  if (!cuda::probe().devices.empty()) GTEST_SKIP() << "there is a CUDA device";
  auto* element = GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("videodenoise", nullptr)));
  auto* bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  gst_util_set_object_arg(G_OBJECT(element), "backend", "cuda");
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  auto* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  ASSERT_TRUE(message);
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  EXPECT_NE(std::string(error->message).find(cuda::probe().why_none), std::string::npos) << error->message;
  EXPECT_NE(std::string(error->message).find("backend=cpu"), std::string::npos) << error->message;
  g_error_free(error);
  gst_message_unref(message);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(bus);
  gst_object_unref(element);
}

}  // namespace
}  // namespace quietframe::test
