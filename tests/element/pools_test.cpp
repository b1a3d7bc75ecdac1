// Allocation: what upstream is offered, what is taken from downstream, and memory that outlives the element.
#include <atomic>
#include <set>
#include <thread>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

constexpr char our_memory[] = "QuietframeHostMemory";

bool is_ours(GstBuffer* buffer) { return gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), our_memory); }

GstQuery* allocation_query(const std::string& text) {
  auto* caps = gst_caps_from_string(text.c_str());
  auto* query = gst_query_new_allocation(caps, TRUE);
  gst_caps_unref(caps);
  return query;
}

TEST(Pools, UpstreamIsOfferedPoolAllocatorAndVideoMeta) {
  Harness h("filter=gaussian async-depth=5", gray_caps);
  auto* query = allocation_query(gray_caps);
  ASSERT_TRUE(gst_pad_peer_query(h.get()->srcpad, query));
  ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1U);
  GstBufferPool* pool = nullptr;
  guint size = 0, min = 0, max = 9;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  ASSERT_TRUE(pool);
  EXPECT_EQ(size, 64U * 48U);
  EXPECT_EQ(min, 5U);
  EXPECT_EQ(max, 0U);
  EXPECT_TRUE(gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META));
  EXPECT_TRUE(gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
  ASSERT_EQ(gst_query_get_n_allocation_params(query), 1U);
  GstAllocator* allocator = nullptr;
  gst_query_parse_nth_allocation_param(query, 0, &allocator, nullptr);
  ASSERT_TRUE(allocator);
  EXPECT_FALSE(GST_OBJECT_FLAG_IS_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC));
  EXPECT_STREQ(allocator->mem_type, our_memory);
  EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));

  // Base classes configure the pool with an allocator of their choice: ours stays.
  auto* config = gst_buffer_pool_get_config(pool);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  gst_buffer_pool_config_set_allocator(config, nullptr, &params);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  GstVideoAlignment align;
  gst_video_alignment_reset(&align);
  align.padding_top = align.padding_left = 16;
  align.stride_align[0] = 63;
  gst_buffer_pool_config_set_video_alignment(config, &align);
  EXPECT_TRUE(gst_buffer_pool_set_config(pool, config));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
  GstBuffer* buffer = nullptr;
  ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  EXPECT_TRUE(is_ours(buffer));
  ASSERT_TRUE(gst_buffer_get_video_meta(buffer));
  EXPECT_EQ(gst_buffer_get_video_meta(buffer)->stride[0], 128);
  EXPECT_GE(gst_buffer_get_video_meta(buffer)->offset[0], 16U * 128U);

  GST_BUFFER_PTS(buffer) = 0;
  EXPECT_EQ(h.push(buffer), GST_FLOW_OK);
  EXPECT_TRUE(h.pull());
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_object_unref(allocator);
  gst_query_unref(query);
}

// The elements that ignore a pool's own allocator, and the ones in between.
TEST(Pools, SourcesAndConvertersWriteIntoOurMemory) {
  for (const char* source : {"videotestsrc num-buffers=6", "videotestsrc num-buffers=6 ! videoconvert",
                             "videotestsrc num-buffers=6 ! queue", "videotestsrc num-buffers=6 ! videoscale",
                             "videotestsrc num-buffers=6 ! videobalance saturation=0.5"}) {
    const auto text =
        std::string(source) +
        " ! video/x-raw,format=I420,width=320,height=240 ! videodenoise name=d backend=" + backend() +
        " filter=gaussian ! fakesink sync=false";
    auto* pipeline = gst_parse_launch(text.c_str(), nullptr);
    ASSERT_TRUE(pipeline);
    auto* d = gst_bin_get_by_name(GST_BIN(pipeline), "d");
    auto* pad = gst_element_get_static_pad(d, "sink");
    std::atomic<int> ours = 0;
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo* info, gpointer count) {
          if (is_ours(GST_PAD_PROBE_INFO_BUFFER(info))) ++*static_cast<std::atomic<int>*>(count);
          return GST_PAD_PROBE_OK;
        },
        &ours, nullptr);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    auto* bus = gst_element_get_bus(pipeline);
    auto* message = gst_bus_timed_pop_filtered(
        bus, 30 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    ASSERT_TRUE(message);
    EXPECT_EQ(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
    gst_message_unref(message);
    gst_object_unref(bus);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    EXPECT_EQ(ours, 6) << source;
    gst_object_unref(pad);
    gst_object_unref(d);
    gst_object_unref(pipeline);
  }
}

struct Offer {
  GstBufferPool* pool;
  guint min, max;
};

// The harness's sink pad proposes `offer` for as long as the harness lives.
void propose(Harness& h, Offer* offer) {
  gst_pad_set_element_private(h.get()->sinkpad, offer);
  gst_pad_set_query_function(h.get()->sinkpad,
                             [](GstPad* pad, GstObject* parent, GstQuery* query) -> gboolean {
                               if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
                                 return gst_pad_query_default(pad, parent, query);
                               const auto* o = static_cast<Offer*>(gst_pad_get_element_private(pad));
                               gst_query_add_allocation_pool(query, o->pool, 64 * 48, o->min, o->max);
                               gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
                               return TRUE;
                             });
}

TEST(Pools, DownstreamsPoolIsTaken) {
  Offer offer{gst_video_buffer_pool_new(), 2, 0};
  {
    Harness h("filter=gaussian");
    propose(h, &offer);
    h.set_caps(gray_caps);
    ASSERT_EQ(h.push(0U), GST_FLOW_OK);
    EXPECT_EQ(h.pull()->pool, offer.pool);
  }
  EXPECT_FALSE(gst_buffer_pool_is_active(offer.pool));
  gst_object_unref(offer.pool);
}

TEST(Pools, ADownstreamPoolTooSmallForTheFramesInFlightIsNot) {
  Offer offer{gst_video_buffer_pool_new(), 2, 3};
  {
    Harness h("filter=gaussian async-depth=4");
    propose(h, &offer);
    h.set_caps(gray_caps);
    for (unsigned i = 0; i < 10; ++i)
      ASSERT_EQ(h.push(i), GST_FLOW_OK);  // nothing is taken out: it must not block
    h.eos();
    const auto out = h.pull();
    EXPECT_NE(out->pool, offer.pool);
    EXPECT_TRUE(is_ours(out.get()));
  }
  gst_object_unref(offer.pool);
}

TEST(Pools, ABoundedDownstreamPoolBlocksAndFlushes) {
  Offer offer{gst_video_buffer_pool_new(), 1, 4};
  {
    Harness h("filter=gaussian async-depth=1");
    propose(h, &offer);
    h.set_caps(gray_caps);
    std::atomic<int> accepted = 0;
    std::thread pusher([&] {
      for (unsigned i = 0; i < 10 && h.push(i) == GST_FLOW_OK; ++i) ++accepted;
    });
    while (h.received() < 4) g_usleep(1000);
    g_usleep(50000);
    EXPECT_LE(accepted, 5);  // the harness keeps all four
    h.push_event(gst_event_new_flush_start());
    pusher.join();  // the wait for a buffer ended
    h.push_event(gst_event_new_flush_stop(TRUE));
    while (auto out = Buffer(gst_harness_try_pull(h.get()))) EXPECT_EQ(out->pool, offer.pool);
  }
  gst_object_unref(offer.pool);
}

GstBufferPool* refusing_pool() {
  static const GType type = g_type_register_static_simple(
      GST_TYPE_BUFFER_POOL, "QuietframeTestRefusingPool", sizeof(GstBufferPoolClass),
      [](gpointer klass, gpointer) {
        GST_BUFFER_POOL_CLASS(klass)->set_config = [](GstBufferPool*, GstStructure*) -> gboolean {
          return FALSE;
        };
      },
      sizeof(GstBufferPool), nullptr, static_cast<GTypeFlags>(0));
  return GST_BUFFER_POOL(gst_object_ref_sink(g_object_new(type, nullptr)));
}

TEST(Pools, ADownstreamPoolThatRefusesIsReplaced) {
  Offer offer{refusing_pool(), 0, 0};
  {
    Harness h("filter=gaussian");
    propose(h, &offer);
    h.set_caps(gray_caps);
    ASSERT_EQ(h.push(0U), GST_FLOW_OK) << h.error();
    EXPECT_NE(h.pull()->pool, offer.pool);
  }
  gst_object_unref(offer.pool);
}

// Neighbours on one page cannot both be page-locked.
Buffer in_pages_of_its_own(Buffer frame) {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = params.padding = 4095;
  const auto pixels = bytes(frame);
  Buffer copy(gst_buffer_new_allocate(nullptr, pixels.size(), &params));
  gst_buffer_fill(copy.get(), 0, pixels.data(), pixels.size());
  return copy;
}

// A camera's pool of ordinary memory: copied at first, read in place when it keeps coming back.
TEST(Pools, MemoryThatComesBackIsPageLockedUntilItDies) {
  auto stats = [](Harness& h, const char* field) {
    GstStructure* s = nullptr;
    g_object_get(h.element(), "stats", &s, nullptr);
    guint64 bytes = 0;
    gst_structure_get_uint64(s, field, &bytes);
    gst_structure_free(s);
    return bytes;
  };
  Harness h("filter=gaussian", "video/x-raw,format=GRAY8,width=512,height=256,framerate=50/1");
  Buffer camera[2] = {in_pages_of_its_own(Buffer(h.frame(0))), in_pages_of_its_own(Buffer(h.frame(1)))};
  std::vector<std::uint8_t> first[2];
  guint64 copied = 0;
  for (unsigned i = 0; i < 20; ++i) {
    // As a pool does: a new buffer of the same memory, or the same buffer again.
    auto* frame = gst_buffer_copy(camera[i % 2].get());
    GST_BUFFER_PTS(frame) = i * frame_time;
    ASSERT_EQ(h.push(frame), GST_FLOW_OK);
    const auto out = bytes(h.pull());
    if (i < 2) first[i] = out;
    EXPECT_EQ(out, first[i % 2]) << i;
    if (i == 12) copied = stats(h, "cpu-copied-bytes");
  }
  EXPECT_EQ(stats(h, "cpu-copied-bytes"), copied);
  EXPECT_EQ(stats(h, "registered-bytes") > 0, backend() == "cuda");
  for (auto& buffer : camera) buffer.reset();
  EXPECT_EQ(stats(h, "registered-bytes"), 0U);
}

TEST(Pools, FramesOutliveTheElement) {
  std::vector<Buffer> kept;
  std::vector<std::vector<std::uint8_t>> pixels;
  {
    Harness h("filter=gaussian", gray_caps);
    for (unsigned i = 0; i < 5; ++i) h.push(i);
    h.eos();
    for (unsigned i = 0; i < 5; ++i) {
      kept.push_back(h.pull());
      EXPECT_TRUE(is_ours(kept.back().get()));
      pixels.push_back(bytes(kept.back()));
    }
  }
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(bytes(kept[i]), pixels[i]);
}

TEST(Pools, NothingIsAllocatedPerFrame) {
  Harness h("filter=gaussian async-depth=4", gray_caps);
  std::set<const void*> blocks;
  for (unsigned i = 0; i < 200; ++i) {
    h.push(i);
    const auto out = h.pull();
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(out.get(), &map, GST_MAP_READ));
    blocks.insert(map.data);
    gst_buffer_unmap(out.get(), &map);
  }
  EXPECT_LE(blocks.size(), 5U);
}

}  // namespace
}  // namespace quietframe::test
