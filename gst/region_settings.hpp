// The properties `roi` and `mask`, and what they mean to one frame.
#pragma once
#include <gst/gst.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "settings.hpp"

namespace quietframe::gst {

/// Safe from any thread. What a frame is given holds for that frame, whatever is set while it is in flight.
class RegionSettings {
 public:
  /// `value` is a GstValueArray of x, y, width and height. False, with a warning, when it is not.
  bool set_roi(const GValue* value);
  void get_roi(GValue* value) const;
  /// Reads the file at once, in the caller's thread. What is wrong with it is kept, for check() to throw.
  void set_mask(const char* location);
  std::string mask_location() const;

  /// Throws Error when the mask that was set cannot be used.
  void check() const;
  /// Sets region and mask of one frame; `from_meta` limits it to the buffer's regions of interest. Throws as
  /// check does.
  void apply(FrameSettings& frame, GstBuffer* buffer, bool from_meta);

 private:
  mutable std::mutex mutex_;
  Rect roi_;
  std::string location_, error_;
  std::shared_ptr<const Mask> mask_;
  std::atomic<bool> warned_ = false;
};

/// The GParamSpecs of `roi` and `mask`.
GParamSpec* roi_spec();
GParamSpec* mask_spec();

}  // namespace quietframe::gst
