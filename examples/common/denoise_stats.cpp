// Reads the statistics of a videodenoise.
#include "common/denoise_stats.hpp"

#include <cmath>

#include "common/gst_owned.hpp"

namespace quietframe::examples {
namespace {

std::string text_of(const GstStructure* s, const char* field) {
  const gchar* text = gst_structure_get_string(s, field);
  return text != nullptr ? text : "";
}

std::uint64_t count_of(const GstStructure* s, const char* field) {
  guint64 value = 0;
  gst_structure_get_uint64(s, field, &value);
  return value;
}

double number_of(const GstStructure* s, const char* field) {
  double value = std::nan("");
  gst_structure_get_double(s, field, &value);
  return value;
}

}  // namespace

DenoiseStats denoise_stats(GstElement* denoise) {
  GstStructure* raw = nullptr;
  g_object_get(denoise, "stats", &raw, nullptr);
  const Owned<GstStructure> s(raw);
  return {text_of(raw, "backend"),        text_of(raw, "memory-path"),   number_of(raw, "noise-sigma"),
          count_of(raw, "frames-in"),     count_of(raw, "frames-out"),   count_of(raw, "frames-dropped"),
          number_of(raw, "total-p50-us"), number_of(raw, "total-p99-us")};
}

}  // namespace quietframe::examples
