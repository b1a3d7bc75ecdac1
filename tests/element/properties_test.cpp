// Properties: each row of each table is a property with that row's type, range, default and effect.
#include "properties.hpp"

#include <gst/controller/controller.h>

#include "element/harness.hpp"

namespace quietframe::test {
namespace {

struct Named {
  std::string name;
  const ParamInfo* row;
};

std::vector<Named> all_rows() {
  std::vector<Named> rows;
  for (const auto& row : gst::element_params) rows.push_back({row.name, &row});
  for (const auto& row : gst::stream_params) rows.push_back({row.name, &row});
  for (const auto& f : all_filters())
    for (const auto& row : f.params) rows.push_back({std::string(f.name) + "-" + row.name, &row});
  return rows;
}

double get_number(GstElement* element, const std::string& name) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name.c_str(), &value);
  double number;
  if (G_VALUE_HOLDS_ENUM(&value))
    number = g_value_get_enum(&value);
  else if (G_VALUE_HOLDS_BOOLEAN(&value))
    number = g_value_get_boolean(&value);
  else if (G_VALUE_HOLDS_INT(&value))
    number = g_value_get_int(&value);
  else
    number = static_cast<double>(g_value_get_float(&value));
  g_value_unset(&value);
  return number;
}

void set_number(GstElement* element, const Named& p, double number) {
  switch (p.row->type) {
    case ParamType::Float:
      g_object_set(element, p.name.c_str(), number, nullptr);
      break;
    default:
      g_object_set(element, p.name.c_str(), static_cast<int>(number), nullptr);
  }
}

class Element {
 public:
  Element() : element_(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("videodenoise", nullptr)))) {}
  ~Element() { gst_object_unref(element_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  GstElement* get() { return element_; }
  GParamSpec* spec(const std::string& name) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(element_), name.c_str());
  }

 private:
  GstElement* element_;
};

TEST(Properties, DefaultsAndRangesComeFromTheTables) {
  Element e;
  for (const auto& p : all_rows()) {
    auto* spec = e.spec(p.name);
    ASSERT_TRUE(spec) << p.name;
    const auto& row = *p.row;
    EXPECT_EQ(get_number(e.get(), p.name), row.default_value) << p.name;
    EXPECT_EQ(std::string(g_param_spec_get_blurb(spec)).find(row.blurb), 0U) << p.name;
    if (row.type == ParamType::Int) {
      EXPECT_EQ(G_PARAM_SPEC_INT(spec)->minimum, row.minimum) << p.name;
      EXPECT_EQ(G_PARAM_SPEC_INT(spec)->maximum, row.maximum) << p.name;
    } else if (row.type == ParamType::Float) {
      EXPECT_EQ(G_PARAM_SPEC_FLOAT(spec)->minimum, static_cast<float>(row.minimum)) << p.name;
      EXPECT_EQ(G_PARAM_SPEC_FLOAT(spec)->maximum, static_cast<float>(row.maximum)) << p.name;
    } else if (row.type == ParamType::Enum) {
      ASSERT_EQ(G_PARAM_SPEC_ENUM(spec)->enum_class->n_values, row.choices.size()) << p.name;
      for (guint i = 0; i < row.choices.size(); ++i)
        EXPECT_STREQ(G_PARAM_SPEC_ENUM(spec)->enum_class->values[i].value_nick, row.choices[i].nick);
    }
  }
}

TEST(Properties, EveryValueOfEveryRowIsKept) {
  Element e;
  for (const auto& p : all_rows())
    for (const double v : {p.row->minimum, p.row->maximum}) {
      set_number(e.get(), p, v);
      EXPECT_FLOAT_EQ(static_cast<float>(get_number(e.get(), p.name)), static_cast<float>(v)) << p.name;
    }
}

TEST(Properties, FilterParametersAreControllableAndMutable) {
  Element e;
  for (const auto& f : all_filters())
    for (const auto& row : f.params) {
      const auto flags = e.spec(std::string(f.name) + "-" + row.name)->flags;
      EXPECT_TRUE(flags & GST_PARAM_CONTROLLABLE);
      EXPECT_TRUE(flags & GST_PARAM_MUTABLE_PLAYING);
    }
  EXPECT_TRUE(e.spec("backend")->flags & GST_PARAM_MUTABLE_READY);
}

TEST(Properties, TheFiltersAreTheRegistrysAndNone) {
  Element e;
  auto* values = G_PARAM_SPEC_ENUM(e.spec("filter"))->enum_class;
  ASSERT_EQ(values->n_values, all_filters().size() + 1);
  EXPECT_STREQ(values->values[0].value_nick, "none");
  for (guint i = 0; i < all_filters().size(); ++i)
    EXPECT_STREQ(values->values[i + 1].value_nick, all_filters()[i].name);
  EXPECT_STREQ(values->values[static_cast<int>(get_number(e.get(), "filter"))].value_nick, "wavelet");
}

std::string printed;

TEST(Properties, AnUnknownFilterListsTheKnownOnes) {
  printed.clear();
  auto* old = g_log_set_default_handler(
      [](const char*, GLogLevelFlags, const char* text, gpointer) { printed += text; }, nullptr);
  GError* error = nullptr;
  auto* element = gst_parse_launch("videodenoise filter=blurr", &error);
  g_log_set_default_handler(old, nullptr);
  EXPECT_TRUE(error);
  g_clear_error(&error);
  if (element) gst_object_unref(gst_object_ref_sink(element));
  for (const auto& f : all_filters()) EXPECT_NE(printed.find(f.name), std::string::npos) << printed;
  EXPECT_NE(printed.find("blurr"), std::string::npos) << printed;
}

TEST(Properties, EveryRowFiltersAFrameAtItsLimits) {
  for (const auto& f : all_filters())
    for (const auto& row : f.params)
      for (const double v : {row.minimum, row.maximum}) {
        Harness h(std::string("filter=") + f.name,
                  "video/x-raw,format=GRAY8,width=21,height=13,framerate=50/1");
        set_number(h.element(), {std::string(f.name) + "-" + row.name, &row}, v);
        ASSERT_EQ(h.push(0U), GST_FLOW_OK);
        EXPECT_TRUE(h.pull()) << f.name << "-" << row.name << "=" << v;
        EXPECT_EQ(h.error(), "");
      }
}

// A controller ramps strength from 0 to 1 over ten frames: the first is the input itself, the last the filter
// alone, each in between a mix of its own.
TEST(Properties, AControllerSetsThemFrameByFrame) {
  Harness h("filter=gaussian async-depth=8", gray_caps);
  auto* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  auto* timed = GST_TIMED_VALUE_CONTROL_SOURCE(source);
  gst_timed_value_control_source_set(timed, 0, 0.0);
  gst_timed_value_control_source_set(timed, 9 * frame_time, 1.0);
  gst_object_add_control_binding(GST_OBJECT(h.element()),
                                 gst_direct_control_binding_new(GST_OBJECT(h.element()), "strength", source));
  gst_object_unref(source);
  auto* pixels = h.frame(3);
  for (unsigned i = 0; i < 10; ++i) {
    auto* frame = gst_buffer_copy(pixels);
    GST_BUFFER_PTS(frame) = i * frame_time;
    ASSERT_EQ(h.push(frame), GST_FLOW_OK);
  }
  h.eos();
  const auto input = bytes(pixels);
  double last = -1;
  for (unsigned i = 0; i < 10; ++i) {
    const auto output = bytes(h.pull());
    double change = 0;
    for (std::size_t k = 0; k < input.size(); ++k) change += std::abs(int{output[k]} - int{input[k]});
    EXPECT_GT(change, last) << i;
    if (i == 0) {
      EXPECT_EQ(change, 0);
    }
    last = change;
  }
  gst_buffer_unref(pixels);
}

TEST(Properties, StatsCountAndName) {
  Harness h("filter=wavelet", gray_caps);
  for (unsigned i = 0; i < 5; ++i) h.push(i);
  h.eos();
  GstStructure* stats = nullptr;
  g_object_get(h.element(), "stats", &stats, nullptr);
  guint64 in = 0, out = 0, dropped = 9;
  double sigma = 0, p50 = 0, max = 0;
  EXPECT_TRUE(gst_structure_get(stats, "frames-in", G_TYPE_UINT64, &in, "frames-out", G_TYPE_UINT64, &out,
                                "frames-dropped", G_TYPE_UINT64, &dropped, "noise-sigma", G_TYPE_DOUBLE,
                                &sigma, "total-p50-us", G_TYPE_DOUBLE, &p50, "total-max-us", G_TYPE_DOUBLE,
                                &max, nullptr));
  EXPECT_EQ(in, 5U);
  EXPECT_EQ(out, 5U);
  EXPECT_EQ(dropped, 0U);
  EXPECT_GT(sigma, 5);  // the frames are uniform noise of 64 levels: 18.5
  EXPECT_LT(sigma, 40);
  float active = 0;
  g_object_get(h.element(), "active-noise-sigma", &active, nullptr);
  EXPECT_EQ(active, static_cast<float>(sigma));
  EXPECT_GT(p50, 0);
  EXPECT_GE(max, p50);
  // The harness's frames are in ordinary memory.
  EXPECT_STREQ(gst_structure_get_string(stats, "memory-path"), backend() == "cpu" ? "host" : "staged");
  EXPECT_EQ(gst_structure_get_string(stats, "backend"), backend());
  gst_structure_free(stats);
}

TEST(Properties, ActiveBackendFollowsTheState) {
  auto text = [](GstElement* element) {
    char* value = nullptr;
    g_object_get(element, "active-backend", &value, nullptr);
    std::string s = value;
    g_free(value);
    return s;
  };
  Harness h;
  EXPECT_EQ(text(h.element()), backend());
  Element e;
  EXPECT_EQ(text(e.get()), "none");
}

}  // namespace
}  // namespace quietframe::test
