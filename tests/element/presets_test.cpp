// Presets: what they set, what they leave, and when they hold no longer.
#include "presets.hpp"

#include <map>
#include <set>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

class Element {
 public:
  Element() : element_(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("videodenoise", nullptr)))) {
    g_signal_connect(element_, "notify", G_CALLBACK(+[](GObject*, GParamSpec* spec, Element* self) {
                       self->notified.insert(spec->name);
                     }),
                     this);
  }
  ~Element() { gst_object_unref(element_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  void set(const char* name, const char* value) { gst_util_set_object_arg(G_OBJECT(element_), name, value); }
  std::string get(const char* name) {
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(element_), name, &value);
    auto* text = gst_value_serialize(&value);
    std::string result = text ? text : "";
    g_free(text);
    g_value_unset(&value);
    return result;
  }
  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> values;
    guint n = 0;
    auto** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element_), &n);
    for (guint i = 0; i < n; ++i)
      if (specs[i]->owner_type == G_OBJECT_TYPE(element_) && (specs[i]->flags & G_PARAM_WRITABLE))
        values[specs[i]->name] = get(specs[i]->name);
    g_free(specs);
    return values;
  }

  std::set<std::string> notified;

 private:
  GstElement* element_;
};

TEST(Presets, EachSetsWhatTheTableSaysAndDefaults) {
  Element fresh;
  const auto defaults = fresh.all();
  for (const auto& p : gst::presets()) {
    if (p.values.empty()) continue;
    Element e;
    e.set("nlm-h", "77");
    e.set("strength", "0.25");
    e.set("preset", p.nick);
    auto expected = defaults;
    expected["preset"] = p.nick;
    for (const auto& v : p.values) {
      ASSERT_TRUE(expected.count(v.property)) << p.nick << ": no property " << v.property;
      Element typed;
      typed.set(v.property, v.value);
      expected[v.property] = typed.get(v.property);
    }
    EXPECT_EQ(e.all(), expected) << p.nick;
  }
}

TEST(Presets, LeaveTheElementsOwnPropertiesAlone) {
  Element e;
  e.set("async-depth", "7");
  e.set("preview", "split");
  e.set("roi", "<1,2,3,4>");
  e.set("preset", "strong");
  EXPECT_EQ(e.get("async-depth"), "7");
  EXPECT_EQ(e.get("preview"), "split");
  EXPECT_EQ(e.get("roi"), "< (int)1, (int)2, (int)3, (int)4 >");
}

TEST(Presets, NotifyWhatTheyChangeAndNothingElse) {
  Element e;
  e.set("preset", "ultrasound");
  EXPECT_EQ(e.notified, (std::set<std::string>{"preset", "filter", "nlm-patch-radius", "noise-sigma"}));
}

TEST(Presets, BecomeCustomWhenOneOfTheirPropertiesChanges) {
  for (const char* property : {"strength", "filter", "nlm-search-radius", "median-radius"}) {
    Element e;
    e.set("preset", "strong");
    e.notified.clear();
    e.set(property, property == std::string("filter")     ? "median"
                    : property == std::string("strength") ? "0.5"
                                                          : "2");
    EXPECT_EQ(e.get("preset"), "custom") << property;
    EXPECT_EQ(e.notified, (std::set<std::string>{"preset", property}));
  }
}

TEST(Presets, StayWhenAPropertyIsSetToWhatItWas) {
  Element e;
  e.set("preset", "strong");
  e.set("filter", "nlm");
  e.set("preview", "noise");
  e.set("async-depth", "2");
  EXPECT_EQ(e.get("preset"), "strong");
}

TEST(Presets, CustomSetsNothing) {
  Element e;
  e.set("preset", "ultrasound");
  e.set("preset", "custom");
  EXPECT_EQ(e.get("noise-sigma"), "20");
}

TEST(Presets, EachFiltersFrames) {
  for (const auto& p : gst::presets()) {
    Harness h(std::string("preset=") + p.nick, gray_caps);
    for (unsigned i = 0; i < 3; ++i) ASSERT_EQ(h.push(i), GST_FLOW_OK);
    h.eos();
    for (unsigned i = 0; i < 3; ++i) {
      const Buffer in(h.frame(i));
      const auto out = h.pull();
      ASSERT_TRUE(out) << p.nick << ": " << h.error();
      EXPECT_NE(bytes(out), bytes(in)) << p.nick;
    }
  }
}

TEST(Presets, ChangeWhilePlaying) {
  Harness h("async-depth=4", gray_caps);
  unsigned i = 0;
  for (const auto& p : gst::presets()) {
    h.set("preset", p.nick);
    ASSERT_EQ(h.push(i++), GST_FLOW_OK);
  }
  h.eos();
  while (i-- > 0) EXPECT_TRUE(h.pull()) << h.error();
}

}  // namespace
}  // namespace quietframe::test
