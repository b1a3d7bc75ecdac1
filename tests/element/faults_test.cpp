// Every single CUDA call of a short stream fails once: one element error, an end, and a restart that works.
#include "cuda/runtime.hpp"
#include "element/harness.hpp"
#include "gpu/faulty_runtime.hpp"

namespace quietframe::test {
namespace {

// Puts a runtime in front of the one in use, for as long as it lives.
class Faults {
 public:
  Faults(int call, int code) : behind_(cuda::runtime()), faulty_(behind_, call, code) {
    cuda::replace_runtime(&faulty_);
  }
  ~Faults() { cuda::replace_runtime(&behind_); }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  cuda::FaultyRuntime* operator->() { return &faulty_; }

 private:
  cuda::Runtime& behind_;
  cuda::FaultyRuntime faulty_;
};

GstElement* pipeline_of(const std::string& settings) {
  return gst_parse_launch(("videotestsrc num-buffers=6 ! video/x-raw,format=NV12,width=64,height=48 ! "
                           "videodenoise name=d backend=cuda async-depth=3 " +
                           settings + " ! fakesink name=s sync=false")
                              .c_str(),
                          nullptr);
}

// 1 for an error of the element's own, else 0; takes the message.
int count_error(GstMessage* message) {
  int own = 0;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR &&
      std::string(GST_OBJECT_NAME(GST_MESSAGE_SRC(message))) == "d") {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    ::testing::Test::RecordProperty("last error", error->message);
    g_error_free(error);
    own = 1;
  }
  gst_message_unref(message);
  return own;
}

// Runs to the end or to the first error, and to READY; the number of errors that the element itself posted,
// or -1 where nothing came. (Sources add that their data flow stopped.)
int play(GstElement* pipeline) {
  auto* bus = gst_element_get_bus(pipeline);
  gst_bus_set_flushing(bus, FALSE);
  const bool started = gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  int errors = 0;
  if (started) {
    auto* message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    if (!message) return gst_object_unref(bus), -1;
    errors = count_error(message);
  }
  gst_element_set_state(pipeline, GST_STATE_READY);
  while (auto* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR)) errors += count_error(message);
  gst_object_unref(bus);
  return errors;
}

class FaultsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(FaultsTest, EveryCallOfTheElementFailsOnce) {
  for (const int code : {2, 999}) {
    for (int n = 1;; ++n) {
      SCOPED_TRACE("call " + std::to_string(n) + " fails with " + std::to_string(code));
      Faults faults(n, code);
      auto* pipeline = pipeline_of(GetParam());
      ASSERT_TRUE(pipeline);
      const int errors = play(pipeline);
      const bool fired = faults->fired();
      EXPECT_GE(errors, 0) << "nothing came";
      EXPECT_LE(errors, 1);
      EXPECT_TRUE(fired || errors == 0);
      faults->disarm();
      EXPECT_EQ(play(pipeline), 0) << "the restart";
      gst_element_set_state(pipeline, GST_STATE_NULL);
      gst_object_unref(pipeline);
      ASSERT_FALSE(HasFailure());
      if (!fired) {
        EXPECT_GT(n, 40);
        break;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, FaultsTest,
                         ::testing::Values("filter=gaussian", "filter=wavelet",
                                           "filter=bilateral bilateral-sigma-space=0.5"));

}  // namespace
}  // namespace quietframe::test
