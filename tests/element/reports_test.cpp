// What the element says of itself: statistics as messages, and one line each on backend and memory.
#include <string>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

// Statistics that were posted so far.
std::vector<GstStructure*> posted(Harness& h) {
  std::vector<GstStructure*> list;
  while (auto* message = gst_bus_pop_filtered(h.bus(), GST_MESSAGE_ELEMENT)) {
    if (gst_message_has_name(message, "videodenoise"))
      list.push_back(gst_structure_copy(gst_message_get_structure(message)));
    gst_message_unref(message);
  }
  return list;
}

std::size_t count_of(const std::vector<GstStructure*>& list) {
  for (auto* s : list) gst_structure_free(s);
  return list.size();
}

void play(Harness& h, unsigned frames, gulong pause_us) {
  for (unsigned i = 0; i < frames; ++i) {
    ASSERT_EQ(h.push(i), GST_FLOW_OK);
    ASSERT_TRUE(h.pull());
    g_usleep(pause_us);
  }
}

TEST(Reports, StatsArePostedOnceInEveryInterval) {
  Harness h("filter=gaussian stats-interval=50", gray_caps);
  const auto start = g_get_monotonic_time();
  play(h, 60, 5000);
  const auto list = posted(h);
  const auto most = static_cast<std::size_t>((g_get_monotonic_time() - start) / 50000);
  ASSERT_GE(list.size(), 3U);
  guint64 in = 0, out = 0;
  double p50 = 0;
  EXPECT_TRUE(gst_structure_get(list.back(), "frames-in", G_TYPE_UINT64, &in, "frames-out", G_TYPE_UINT64,
                                &out, "total-p50-us", G_TYPE_DOUBLE, &p50, nullptr));
  EXPECT_GT(out, 10U);
  EXPECT_GE(in, out);
  EXPECT_GT(p50, 0);
  EXPECT_STREQ(gst_structure_get_string(list.back(), "memory-path"), backend() == "cpu" ? "host" : "staged");
  EXPECT_LE(count_of(list), most);
}

TEST(Reports, NoneByDefaultAndNoneWithoutFrames) {
  Harness h("filter=gaussian", gray_caps);
  play(h, 10, 1000);
  EXPECT_EQ(count_of(posted(h)), 0U);
  h.set("stats-interval", "1");
  g_usleep(20000);
  EXPECT_EQ(count_of(posted(h)), 0U);
}

TEST(Reports, PassedFramesCountToo) {
  Harness h("filter=none stats-interval=5", gray_caps);
  play(h, 10, 3000);
  EXPECT_GE(count_of(posted(h)), 1U);
}

// Lines of category videodenoise at INFO or worse.
class Log {
 public:
  Log() {
    gst_debug_set_threshold_for_name("videodenoise", GST_LEVEL_INFO);
    gst_debug_remove_log_function(gst_debug_log_default);
    gst_debug_add_log_function(&Log::take, this, nullptr);
  }
  ~Log() {
    gst_debug_remove_log_function(&Log::take);
    gst_debug_add_log_function(gst_debug_log_default, nullptr, nullptr);
    gst_debug_unset_threshold_for_name("videodenoise");
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  int count(const std::string& part) {
    const std::lock_guard lock(mutex_);
    int n = 0;
    for (const auto& line : lines_)
      if (line.find(part) != std::string::npos) ++n;
    return n;
  }

 private:
  static void take(GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*, gint,
                   GObject*, GstDebugMessage* message, gpointer self) {
    if (level > GST_LEVEL_INFO || gst_debug_category_get_name(category) != std::string("videodenoise"))
      return;
    auto& log = *static_cast<Log*>(self);
    const std::lock_guard lock(log.mutex_);
    log.lines_.emplace_back(gst_debug_message_get(message));
  }
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(Reports, BackendAndMemoryPathAreLoggedOnceAndNothingPerFrame) {
  Log log;
  Harness h("filter=gaussian", gray_caps);
  play(h, 2, 0);
  EXPECT_EQ(log.count(backend() == "cpu" ? "CPU backend" : "CUDA backend"), 1);
  EXPECT_EQ(log.count("memory path"), 1);
  const int before = log.count("");
  play(h, 30, 0);
  EXPECT_EQ(log.count(""), before);
}

}  // namespace
}  // namespace quietframe::test
