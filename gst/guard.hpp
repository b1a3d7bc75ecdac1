// The one place where an exception becomes an element error: none crosses into C, none is swallowed, nothing
// aborts.
#pragma once
#include <gst/gst.h>

#include <new>

#include "processor.hpp"

namespace quietframe::gst {

/// What arrived on the stream cannot be worked on (a short buffer, a stride that makes no sense).
class StreamError : public Error {
 public:
  using Error::Error;
};

/// Runs `body`; where it throws, posts an element error that carries the reason and returns `failed`.
template <class Result, class Body>
Result guard(GstElement* element, Result failed, Body&& body) noexcept {
  try {
    return body();
  } catch (const StreamError& e) {
    GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("%s", e.what()), (nullptr));
  } catch (const Error& e) {
    GST_ELEMENT_ERROR(element, RESOURCE, FAILED, ("%s", e.what()), (nullptr));
  } catch (const std::bad_alloc&) {
    GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT,
                      ("Out of memory. Lower async-depth, or use smaller frames."), (nullptr));
  } catch (const std::exception& e) {
    GST_ELEMENT_ERROR(element, LIBRARY, FAILED, ("%s", e.what()), (nullptr));
  }
  return failed;
}

}  // namespace quietframe::gst
