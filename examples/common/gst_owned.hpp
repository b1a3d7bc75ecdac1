// Owners of GStreamer references for the example programs, and errors of pipelines as exceptions.
#pragma once
#include <gst/gst.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace quietframe::examples {

struct GstUnref {
  void operator()(GstElement* p) const { gst_object_unref(p); }
  void operator()(GstBus* p) const { gst_object_unref(p); }
  void operator()(GstPad* p) const { gst_object_unref(p); }
  void operator()(GstClock* p) const { gst_object_unref(p); }
  void operator()(GstElementFactory* p) const { gst_object_unref(p); }
  void operator()(GstBufferPool* p) const { gst_object_unref(p); }
  void operator()(GstCaps* p) const { gst_caps_unref(p); }
  void operator()(GstBuffer* p) const { gst_buffer_unref(p); }
  void operator()(GstSample* p) const { gst_sample_unref(p); }
  void operator()(GstMessage* p) const { gst_message_unref(p); }
  void operator()(GstStructure* p) const { gst_structure_free(p); }
  void operator()(GError* p) const { g_error_free(p); }
  void operator()(gchar* p) const { g_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, GstUnref>;

/// A pipeline that cannot be built or that failed; what() is for people.
class PipelineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A pipeline that is set to NULL before it is let go.
class Pipeline {
 public:
  /// From a gst-launch-1.0 description. Throws PipelineError.
  explicit Pipeline(const std::string& description);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  GstElement* get() const { return pipeline_.get(); }
  /// The element of that name, which is there.
  Owned<GstElement> element(const char* name) const;
  /// Throws PipelineError with the element's own message where the state cannot be reached.
  void set_state(GstState state);
  /// Throws PipelineError if the pipeline has posted an error.
  void throw_error() const;
  /// Waits for EOS; throws PipelineError on an error, or after `timeout`.
  void wait_eos(GstClockTime timeout) const;

 private:
  Owned<GstElement> pipeline_;
};

/// "element: message (details)" of an ERROR or WARNING message.
std::string message_text(GstMessage* message);

/// "key=value" onto the element, parsed as gst-launch-1.0 does. Throws PipelineError that names what is
/// wrong.
void set_property(GstElement* element, const std::string& assignment);

}  // namespace quietframe::examples
