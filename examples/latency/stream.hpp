// One live pipeline, fed at a frame rate, with a time stamp wherever a buffer passes from element to element.
#pragma once
#include <gst/video/video.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "common/gst_owned.hpp"
#include "common/percentiles.hpp"

namespace quietframe::examples {

struct StreamRequest {
  std::string part;  ///< what stands between source and sink, as gst-launch-1.0 takes it
  std::string format = "GRAY8";
  int width = 512, height = 512;
  double rate = 60;     ///< frames per second; 0: as fast as it goes
  double seconds = 10;  ///< measured, at most
  double phase = -1;    ///< when in a frame's interval frames are pushed, 0..1 of it by the monotonic clock;
                        ///< below 0: at any
  bool sync = false;    ///< the sink waits for the clock, as a display does
  bool offered_memory =
      true;  ///< write frames into memory that the part offers, as a camera driver may; else into malloc's
};

/// What was pushed in one of the parts of a measurement that it is cut into by time.
struct Window {
  Times times;  ///< of the frames that arrived
  std::uint64_t pushed = 0;
};

/// The time between two points that a frame passes.
struct Leg {
  std::string name;
  Times times;
};

struct StreamResult {
  Times whole;            ///< from being handed to the source element to arriving at the sink
  std::vector<Leg> legs;  ///< the parts of that, in order
  std::vector<Window> windows;
  std::uint64_t pushed = 0, arrived = 0;
  double seconds = 0;           ///< that were measured
  std::string backend, memory;  ///< of a videodenoise in the part
};

class Stream {
 public:
  /// Builds and starts; frames flow when it returns. Throws PipelineError.
  explicit Stream(const StreamRequest& request);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Throws PipelineError if the pipeline has failed.
  void check() const { pipeline_.throw_error(); }
  /// What is pushed from now on is measured, until finish().
  void start();
  /// Frames that have arrived since start().
  std::uint64_t arrived() const { return arrived_; }
  /// Ends the stream, waits for the last frame and adds everything up, in windows of so many seconds (0: no
  /// windows).
  StreamResult finish(double window_seconds = 0);

 private:
  struct Point {
    Stream* stream = nullptr;
    std::string name;
    bool last = false;
    std::vector<std::int64_t> stamp;  ///< nanoseconds by frame number; 0: never seen
  };

  void add_point(GstPad* pad, const std::string& name, bool last);
  void add_points_of_part();
  void make_frames(bool offered);
  Owned<GstBufferPool> offered_pool() const;
  void push(std::uint64_t number);
  void begin();
  void feed();
  std::uint64_t number_of(GstBuffer* buffer) const;
  static GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer point);

  StreamRequest request_;
  std::size_t most_frames_;  ///< that there is room for a stamp of
  Pipeline pipeline_;
  Owned<GstElement> source_, sink_, part_;
  GstVideoInfo info_{};
  GstClockTime duration_ = 0, first_pts_ = 0;
  std::vector<Owned<GstBuffer>> frames_;
  std::vector<std::unique_ptr<Point>> points_;  ///< the first is the push itself
  std::atomic<std::uint64_t> arrived_{0};
  std::atomic<std::uint64_t> pushed_{0};
  std::uint64_t first_measured_ = 0;
  std::chrono::steady_clock::time_point started_;
  std::atomic<bool> stopping_{false};
  std::thread feeder_;
};

}  // namespace quietframe::examples
