// What happens to one buffer: passthrough, metadata, strides, short and split buffers, shared input.
#include <cstring>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

// The visible samples of a frame, rows one after another, whatever its strides.
std::vector<std::uint8_t> visible(GstBuffer* buffer, const GstVideoInfo& info) {
  std::vector<std::uint8_t> out;
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return out;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
    int component[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(frame.info.finfo, p, component);
    const int width =
        GST_VIDEO_FRAME_COMP_WIDTH(&frame, component[0]) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component[0]);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, component[0]); ++y) {
      const auto* row = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        static_cast<gssize>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
      out.insert(out.end(), row, row + width);
    }
  }
  gst_video_frame_unmap(&frame);
  return out;
}

TEST(Buffers, PassthroughIsTheVeryBuffer) {
  for (const char* settings : {"filter=none", "filter=wavelet strength=0"}) {
    Harness h(settings, gray_caps);
    for (unsigned i = 0; i < 3; ++i) {
      auto* in = h.frame(i);
      const auto before = bytes(in);
      ASSERT_EQ(h.push(in), GST_FLOW_OK);
      const auto out = h.pull();
      EXPECT_EQ(out.get(), in) << settings;
      EXPECT_EQ(bytes(out), before) << settings;
    }
  }
}

TEST(Buffers, TimestampsOffsetsAndFlagsGoOneToOne) {
  Harness h("filter=gaussian async-depth=8", gray_caps);
  const GstBufferFlags flags[] = {
      GST_BUFFER_FLAG_DISCONT,   GST_BUFFER_FLAG_DELTA_UNIT, GST_BUFFER_FLAG_GAP,    GST_BUFFER_FLAG_MARKER,
      GST_BUFFER_FLAG_CORRUPTED, GST_BUFFER_FLAG_DROPPABLE,  GST_BUFFER_FLAG_RESYNC, GST_BUFFER_FLAG_LIVE};
  for (unsigned i = 0; i < 8; ++i) {
    auto* frame = h.frame(i);
    GST_BUFFER_DTS(frame) = i * frame_time / 2;
    GST_BUFFER_FLAG_SET(frame, flags[i]);
    h.push(frame);
  }
  h.eos();
  for (unsigned i = 0; i < 8; ++i) {
    const auto out = h.pull();
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), i * frame_time);
    EXPECT_EQ(GST_BUFFER_DTS(out.get()), i * frame_time / 2);
    EXPECT_EQ(GST_BUFFER_DURATION(out.get()), frame_time);
    EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), i);
    EXPECT_EQ(GST_BUFFER_OFFSET_END(out.get()), i + 1);
    for (unsigned k = 0; k < 8; ++k)
      EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(out.get(), flags[k]), k == i) << i << " " << k;
  }
}

TEST(Buffers, MetasSurviveButThoseOfTheMemory) {
  const char* tags[] = {nullptr};
  gst_meta_register_custom("QuietframeTestMeta", tags, nullptr, nullptr, nullptr);
  Harness h("filter=gaussian async-depth=4", gray_caps);
  auto* in = h.frame(0);
  gst_buffer_add_video_region_of_interest_meta(in, "face", 3, 4, 20, 10);
  auto* crop = gst_buffer_add_video_crop_meta(in);
  crop->x = 2;
  crop->width = 30;
  gst_buffer_add_video_time_code_meta_full(in, 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2, 3, 4, 0);
  auto* reference = gst_caps_new_empty_simple("timestamp/x-test");
  gst_buffer_add_reference_timestamp_meta(in, reference, 12345, GST_CLOCK_TIME_NONE);
  auto* custom = gst_buffer_add_custom_meta(in, "QuietframeTestMeta");
  gst_structure_set(gst_custom_meta_get_structure(custom), "probe", G_TYPE_INT, 7, nullptr);
  auto* parent = gst_buffer_new();
  gst_buffer_add_parent_buffer_meta(in, parent);
  h.push(in);
  const auto out = h.pull();

  auto* roi = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0);
  ASSERT_TRUE(roi);
  EXPECT_EQ(roi->w, 20U);
  ASSERT_TRUE(gst_buffer_get_video_crop_meta(out.get()));
  EXPECT_EQ(gst_buffer_get_video_crop_meta(out.get())->width, 30U);
  ASSERT_TRUE(gst_buffer_get_video_time_code_meta(out.get()));
  EXPECT_EQ(gst_buffer_get_video_time_code_meta(out.get())->tc.frames, 4U);
  ASSERT_TRUE(gst_buffer_get_reference_timestamp_meta(out.get(), reference));
  EXPECT_EQ(gst_buffer_get_reference_timestamp_meta(out.get(), reference)->timestamp, 12345U);
  auto* kept = gst_buffer_get_custom_meta(out.get(), "QuietframeTestMeta");
  ASSERT_TRUE(kept);
  int probe = 0;
  gst_structure_get_int(gst_custom_meta_get_structure(kept), "probe", &probe);
  EXPECT_EQ(probe, 7);
  // It would hold the camera's buffer for as long as somebody holds ours.
  EXPECT_FALSE(gst_buffer_get_parent_buffer_meta(out.get()));
  gst_caps_unref(reference);
  gst_buffer_unref(parent);
}

// The same frame with other strides: `pad` bytes more a row, or upside down.
GstBuffer* restride(GstBuffer* frame, const GstVideoInfo& info, int pad, bool bottom_up) {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  GstVideoFrame from;
  gst_video_frame_map(&from, &info, frame, GST_MAP_READ);
  std::vector<std::uint8_t> data(16, 0xa5);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    int component[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(info.finfo, p, component);
    const int rows = GST_VIDEO_FRAME_COMP_HEIGHT(&from, component[0]);
    const int width = GST_VIDEO_FRAME_PLANE_STRIDE(&from, p);
    const auto start = data.size();
    data.resize(start + static_cast<gsize>((width + pad) * rows), 0xa5);
    for (int y = 0; y < rows; ++y) {
      const int at = bottom_up ? rows - 1 - y : y;
      std::memcpy(data.data() + start + at * (width + pad),
                  static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&from, p)) + y * width,
                  static_cast<gsize>(width));
    }
    stride[p] = bottom_up ? -(width + pad) : width + pad;
    offset[p] = bottom_up ? start + static_cast<gsize>((rows - 1) * (width + pad)) : start;
  }
  gst_video_frame_unmap(&from);
  auto* out = gst_buffer_new_memdup(data.data(), data.size());
  gst_buffer_copy_into(out, frame, GST_BUFFER_COPY_TIMESTAMPS, 0, static_cast<gsize>(-1));
  gst_buffer_add_video_meta_full(out, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(info.width), static_cast<guint>(info.height),
                                 GST_VIDEO_INFO_N_PLANES(&info), offset, stride);
  gst_buffer_unref(frame);
  return out;
}

TEST(Buffers, AnyStrideGivesTheSamePixels) {
  for (const char* format : {"GRAY8", "GRAY16_LE", "NV12", "I420", "RGB", "YUY2", "BGRA"}) {
    const auto caps = std::string("video/x-raw,format=") + format + ",width=37,height=23,framerate=50/1";
    Harness h("filter=wavelet", caps);
    h.push(0U);
    const auto expected = visible(h.pull().get(), h.info());
    ASSERT_FALSE(expected.empty());
    for (const auto& [pad, bottom_up] :
         {std::pair{4, false}, {100, false}, {1, false}, {0, true}, {12, true}}) {
      if (pad % 2 != 0 && std::string(format) != "GRAY8") continue;  // 16-bit rows start at even bytes
      ASSERT_EQ(h.push(restride(h.frame(0), h.info(), pad, bottom_up)), GST_FLOW_OK) << h.error();
      const auto out = h.pull();
      ASSERT_TRUE(out) << format << " " << pad << ": " << h.error();
      EXPECT_EQ(visible(out.get(), h.info()), expected)
          << format << " pad " << pad << " bottom up " << bottom_up;
    }
  }
}

TEST(Buffers, PlanesInMemoriesOfTheirOwn) {
  const auto* caps = "video/x-raw,format=I420,width=64,height=48,framerate=50/1";
  Harness h("filter=wavelet", caps);
  h.push(0U);
  const auto expected = visible(h.pull().get(), h.info());
  for (const bool meta : {false, true}) {
    auto* whole = h.frame(0);
    auto* split = gst_buffer_new();
    gsize start = 0;
    for (guint p = 0; p < 3; ++p) {
      const gsize end = p == 2 ? h.info().size : GST_VIDEO_INFO_PLANE_OFFSET(&h.info(), p + 1);
      auto* copy = gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, start, end - start);
      auto* memory = gst_buffer_peek_memory(copy, 0);
      gst_buffer_append_memory(split, gst_memory_copy(memory, 0, -1));
      gst_buffer_unref(copy);
      start = end;
    }
    auto layout = h.info();
    if (meta)
      gst_buffer_add_video_meta_full(split, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 64, 48, 3,
                                     layout.offset, layout.stride);
    ASSERT_EQ(gst_buffer_n_memory(split), 3U);
    gst_buffer_unref(whole);
    ASSERT_EQ(h.push(split), GST_FLOW_OK);
    const auto out = h.pull();
    ASSERT_TRUE(out) << h.error();
    EXPECT_EQ(visible(out.get(), h.info()), expected) << "meta " << meta;
  }
}

std::string error_of(Harness& h, GstBuffer* buffer) {
  EXPECT_EQ(h.push(buffer), GST_FLOW_ERROR);
  return h.error();
}

TEST(Buffers, ShortBuffersAreAnErrorThatNamesTheSizes) {
  Harness h("filter=gaussian", "video/x-raw,format=GRAY16_LE,width=64,height=48,framerate=50/1");
  auto text = error_of(h, gst_buffer_new_allocate(nullptr, 64 * 48 * 10 / 8, nullptr));
  EXPECT_NE(text.find("3840"), std::string::npos) << text;
  EXPECT_NE(text.find("6144"), std::string::npos) << text;
  EXPECT_NE(text.find("64x48 GRAY16_LE"), std::string::npos) << text;
  text = error_of(h, gst_buffer_new());
  EXPECT_NE(text.find("0 bytes"), std::string::npos) << text;
}

TEST(Buffers, VideoMetasThatLieAreAnError) {
  struct Case {
    gsize offset;
    gint stride;
    guint width, height;
  };
  for (const auto& c :
       {Case{0, 128, 64, 48}, Case{0, -64, 64, 48}, Case{1, 64, 64, 48}, Case{0, 2147483647, 64, 48},
        Case{3071, -2147483647, 64, 48}, Case{0, 64, 64, 24}, Case{0, 32, 32, 48}}) {
    Harness h("filter=gaussian", gray_caps);
    auto* buffer = h.frame(0);
    gsize offset[GST_VIDEO_MAX_PLANES] = {c.offset};
    gint stride[GST_VIDEO_MAX_PLANES] = {c.stride};
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, c.width,
                                   c.height, 1, offset, stride);
    const auto text = error_of(h, buffer);
    EXPECT_NE(text.find("64x48 GRAY8"), std::string::npos) << text;
  }
}

TEST(Buffers, SharedInputIsNeverWritten) {
  Harness h("filter=median async-depth=4", gray_caps);
  std::vector<Buffer> kept;
  std::vector<std::vector<std::uint8_t>> before;
  for (unsigned i = 0; i < 5; ++i) {
    auto* in = h.frame(i);
    before.push_back(bytes(in));
    kept.emplace_back(gst_buffer_ref(in));
    ASSERT_EQ(h.push(in), GST_FLOW_OK);
  }
  h.eos();
  for (unsigned i = 0; i < 5; ++i) {
    const auto out = h.pull();
    EXPECT_NE(out.get(), kept[i].get());
    EXPECT_NE(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(kept[i].get(), 0));
    EXPECT_NE(bytes(out), before[i]);
    EXPECT_EQ(bytes(kept[i]), before[i]);
  }
}

// A source with few buffers starves if they are held until the frame has left.
TEST(Buffers, InputIsLetGoBeforeTheOutputLeaves) {
  Harness h("filter=gaussian async-depth=1", gray_caps);
  static GstBuffer* watched;
  static int references;
  references = -1;
  watched = gst_buffer_ref(h.frame(0));
  gst_pad_set_chain_function(h.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    references = GST_MINI_OBJECT_REFCOUNT_VALUE(watched);
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
  });
  gst_buffer_unref(watched);
  auto* kept = gst_buffer_ref(watched);
  ASSERT_EQ(h.push(watched), GST_FLOW_OK);
  h.eos();
  EXPECT_EQ(references, 1);
  gst_buffer_unref(kept);
}

}  // namespace
}  // namespace quietframe::test
