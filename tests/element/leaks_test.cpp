// A program that leaks what it is told to, for leaks_seen.sh.
#include "element/harness.hpp"

namespace quietframe::test {
namespace {

TEST(Leak, Nothing) {
  Harness h("", gray_caps);
  ASSERT_EQ(h.push(0U), GST_FLOW_OK);
  ASSERT_TRUE(h.pull());
}

TEST(Leak, Buffer) { ASSERT_TRUE(gst_buffer_new_allocate(nullptr, 64, nullptr)); }

TEST(Leak, Caps) { ASSERT_TRUE(gst_caps_from_string(gray_caps)); }

TEST(Leak, Element) { ASSERT_TRUE(gst_element_factory_make("videodenoise", nullptr)); }

}  // namespace
}  // namespace quietframe::test
