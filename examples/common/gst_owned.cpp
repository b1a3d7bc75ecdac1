// Pipelines with owners and error texts.
#include "common/gst_owned.hpp"

namespace quietframe::examples {

std::string message_text(GstMessage* message) {
  GError* raw_error = nullptr;
  gchar* raw_debug = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning(message, &raw_error, &raw_debug);
  else
    gst_message_parse_error(message, &raw_error, &raw_debug);
  const Owned<GError> error(raw_error);
  const Owned<gchar> debug(raw_debug);
  std::string text = std::string(GST_OBJECT_NAME(GST_MESSAGE_SRC(message))) + ": " + error->message;
  if (debug) text += std::string("\n  ") + debug.get();
  return text;
}

Pipeline::Pipeline(const std::string& description) {
  GError* raw = nullptr;
  GstElement* parsed = gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw);
  const Owned<GError> error(raw);
  if (parsed != nullptr) pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(parsed)));
  if (error || !pipeline_)
    throw PipelineError("cannot build the pipeline: " + std::string(error ? error->message : "empty") +
                        "\n  " + description);
}

Pipeline::~Pipeline() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

Owned<GstElement> Pipeline::element(const char* name) const {
  Owned<GstElement> found(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  if (!found) throw PipelineError(std::string("the pipeline has no element called ") + name);
  return found;
}

void Pipeline::set_state(GstState state) {
  if (gst_element_set_state(pipeline_.get(), state) != GST_STATE_CHANGE_FAILURE) return;
  throw_error();
  throw PipelineError(std::string("the pipeline does not go to ") + gst_element_state_get_name(state));
}

void Pipeline::throw_error() const {
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  const Owned<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  if (message) throw PipelineError(message_text(message.get()));
}

void Pipeline::wait_eos(GstClockTime timeout) const {
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  const auto types = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  const Owned<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), timeout, types));
  if (!message) throw PipelineError("the pipeline did not end in time");
  if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) throw PipelineError(message_text(message.get()));
}

void set_property(GstElement* element, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) throw PipelineError("not PROPERTY=VALUE: " + assignment);
  const std::string name = assignment.substr(0, equals), text = assignment.substr(equals + 1);
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str());
  if (spec == nullptr)
    throw PipelineError(std::string(GST_OBJECT_NAME(element)) + " has no property " + name +
                        "; gst-inspect-1.0 lists them");
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  const bool good = gst_value_deserialize(&value, text.c_str()) != FALSE;
  if (good) g_object_set_property(G_OBJECT(element), name.c_str(), &value);
  g_value_unset(&value);
  if (!good) throw PipelineError("\"" + text + "\" is no value for " + name);
}

}  // namespace quietframe::examples
