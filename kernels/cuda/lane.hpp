// A lane: a stream with the device memory and the graph of one frame at a time.
#pragma once
#include <array>
#include <cstdint>

#include "cuda/frame_graph.hpp"
#include "cuda/layout.hpp"
#include "filter.hpp"
#include "settings.hpp"

namespace quietframe::cuda {

/// Events and memory that one frame in flight has to itself.
struct FrameEvents {
  Event uploaded, done;  ///< blocking
  Event noise_known;     ///< the frame's part of the smoothed noise is done
  std::array<Event, 4>
      timing;  ///< begin, uploaded, filtered, downloaded; made when timing is first asked for
};

/// All that a captured graph depends on; frames with equal keys differ in host addresses alone.
struct GraphKey {
  const FilterInfo* filter = nullptr;
  std::array<std::byte, max_params_size> params{};
  CommonParams common;
  bool finish = false;  ///< region, mask or preview ask for it
  Region region;
  const std::uint8_t* mask = nullptr;  ///< on the device
  FrameLayout in, out;
  Frame in_device, out_device;  ///< where the caller's own memory is on the device, else null planes
  std::array<Frame, max_history> past_frames{};  ///< on the device, newest first
  int past = 0;
  bool keep_input = false;    ///< later frames look back at this one: device input is copied
  bool upload_event = false;  ///< events->uploaded is recorded
  bool timing = false;
  const FrameEvents* events = nullptr;
  float* sigma_report = nullptr;                ///< max_groups x max_channels floats, page-locked
  SmoothedState* smoothed = nullptr;            ///< max_groups x max_channels of them; null: exact
  cudaEvent_t smoothed_after = nullptr;         ///< the part of the frame before; null: there is none
  const SmoothedStep* smoothed_step = nullptr;  ///< max_groups of them, page-locked

  bool operator==(const GraphKey&) const = default;
};

class Lane {
 public:
  /// Throws CudaError; the lane may be allocated again.
  void allocate(const FrameFormat& format);

  /// Makes the graph fit `key` and the host addresses of `in` and `out`. Allocates scratch where the filter
  /// needs more than any before it; throws CudaError.
  void prepare(const GraphKey& key, const Frame& in, const Frame& out);
  /// Starts the frame that prepare() was called for.
  void launch(const GraphKey& key, const Frame& in, const Frame& out);
  cudaStream_t stream() const { return stream_.get(); }
  void synchronize() noexcept;
  std::size_t capacity() const { return capacity_; }

  /// From now on the lane's device memory holds the input of frame `number`, launched with `key`.
  void hold(std::uint64_t number, const GraphKey& key);
  void let_go() { holds_ = -1; }
  /// The input of frame `number` on the device; null when the lane does not hold it.
  const Frame* held(std::uint64_t number) const {
    return holds_ == static_cast<std::int64_t>(number) ? &held_ : nullptr;
  }

 private:
  bool readdress(const GraphKey& key, const Frame& in, const Frame& out);
  void enqueue(const GraphKey& key, const Frame& in, const Frame& out);
  CudaSigma enqueue_noise(const GraphKey& key, const Frame& in, int group);
  void enqueue_group(const GraphKey& key, const Frame& in, const Frame& out, int group,
                     const CudaSigma& sigma);
  void enqueue_finish(const GraphKey& key, const Frame& in, const Frame& out, int group);
  void enqueue_copies(const FrameLayout& layout, const Frame& host, std::byte* device, CopyKind kind);
  void mark(const Event& event);
  void wait_for(cudaEvent_t event);
  void mark_time(const GraphKey& key, int time);
  std::byte* device_in() const;
  std::byte* device_out() const;
  std::size_t scratch_needed(const FilterInfo* filter) const;

  FrameFormat format_;
  std::int64_t holds_ = -1;
  Frame held_;
  std::size_t capacity_ = 0;  ///< of one frame
  Stream stream_, side_;
  Event fork_, join_;
  DeviceMemory frames_;  ///< sigma, then input, then output
  DeviceMemory scratch_;
  std::size_t scratch_bytes_ = 0;
  bool capturing_ = false;
  GraphKey key_;
  FrameGraph graph_;
};

}  // namespace quietframe::cuda
