// The capture application: a source, videodenoise, a preview or none, and a recording, under one main loop.
#pragma once
#include <gst/app/gstappsrc.h>

#include <memory>
#include <string>
#include <vector>

#include "capture/controls.hpp"
#include "common/clip.hpp"

namespace quietframe::examples {

struct CaptureOptions {
  std::string source;  ///< empty: a phantom, looped; "test": videotestsrc; /dev/video*: a camera; else a file
  std::string caps;    ///< of a raw clip (then it is looped), or what to ask of a camera
  std::string filter = "wavelet", backend = "auto";
  std::vector<std::string> settings;  ///< PROPERTY=VALUE of videodenoise
  std::string record;                 ///< Matroska file; empty: none
  std::string encoder;                ///< elements; empty: the first lossless one that is installed
  bool headless = false, split = false;
  double seconds = 0;  ///< to run; 0: until told to stop or the source ends
  double statistics_interval = 2;
};

class CaptureApp {
 public:
  /// Throws PipelineError.
  explicit CaptureApp(const CaptureOptions& options);
  ~CaptureApp();
  CaptureApp(const CaptureApp&) = delete;
  CaptureApp& operator=(const CaptureApp&) = delete;

  /// Plays until the end. Throws PipelineError when the pipeline fails.
  void run();

 private:
  std::string describe() const;
  std::string source_part() const;
  std::string output_part() const;
  void set_split(bool on);
  void end();
  void print_statistics();
  void read_stdin();
  void watch_window_keys();
  static gboolean on_message(GstBus* bus, GstMessage* message, gpointer app);
  static void on_need_data(GstAppSrc* source, guint length, gpointer app);

  CaptureOptions options_;
  Clip clip_;  ///< what is looped; no frames: the source is an element
  std::unique_ptr<Pipeline> pipeline_;
  Owned<GstElement> denoise_;
  std::unique_ptr<Controls> controls_;
  GMainLoop* loop_;
  std::vector<guint> watches_;
  guint stdin_watch_ = 0;
  std::string typed_;  ///< of a line that is not ended yet
  bool terminal_ = false, split_on_ = false, ending_ = false;
  guint64 fed_ = 0, frames_before_ = 0;
  gint64 time_before_ = 0;
  std::string error_;
};

}  // namespace quietframe::examples
