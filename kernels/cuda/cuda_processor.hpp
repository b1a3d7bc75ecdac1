// The CUDA backend: frames in flight over several streams, one graph launch each.
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/lane.hpp"
#include "cuda/staging.hpp"
#include "cuda/wait.hpp"
#include "device_frames.hpp"
#include "noise/smoothed_cuda.hpp"
#include "processor.hpp"

namespace quietframe::cuda {

/// Frame n runs on lane n % lanes, which has a stream, device memory and a graph; so uploads, kernels and
/// downloads of neighbouring frames overlap on the GPU's copy engines and multiprocessors. There are as many
/// lanes as frames in flight, fewer where device memory does not suffice (then frames of one lane queue up
/// behind one another), and more where a filter looks back further than that.
class CudaProcessor final : public Processor, public DeviceFrames {
 public:
  explicit CudaProcessor(Device device);
  ~CudaProcessor() override;

  ProcessorInfo info() const override;
  void configure(const FrameFormat& format, int slots) override;
  std::uint64_t submit(const Frame& in, const Frame& out, const FrameSettings& settings) override;
  void wait_input(std::uint64_t frame) override;
  FrameReport wait(std::uint64_t frame) override;
  void drain() override;
  void set_timing(bool on) override { timing_ = on; }
  void use_context(void* context) override;
  void start_after(void* stream) override { predecessors_.push_back(static_cast<cudaStream_t>(stream)); }

  int lanes() const { return static_cast<int>(lanes_.size()); }

 private:
  struct InFlight {
    FrameEvents events;
    std::array<Event, 2> before;  ///< of other elements' work; made when first needed
    StagingFrame staged_in, staged_out;
    float* sigma_report = nullptr;
    SmoothedStep* smoothed_step = nullptr;     ///< one a group
    std::array<bool, max_groups> estimated{};  ///< the report's sigma is to be read from sigma_report
    Frame out;                                 ///< the caller's
    bool in_copied = false;                    ///< the input memory was let go within submit
    bool upload_event = false, unstage = false, timed = false;
    Waiter::Clock::time_point launched;
    FrameReport report;
    std::exception_ptr error;
  };

  InFlight& slot_of(std::uint64_t frame) { return slots_[frame % slots_.size()]; }
  Lane& lane_of(std::uint64_t frame) { return lanes_[frame % lanes_.size()]; }
  CUcontext context();
  void release() noexcept;
  void order_predecessors(std::uint64_t number, InFlight& slot);
  void make_lanes(std::size_t count);
  void make_slots(std::size_t count);
  void start(std::uint64_t number, InFlight& slot, Frame in, Frame out, const FrameSettings& settings);
  void use_mask(const std::shared_ptr<const Mask>& mask);
  void stage(InFlight& slot, Frame& in, Frame& out);
  GraphKey key_of(std::uint64_t number, InFlight& slot, const Frame& in, const Frame& out,
                  const FrameSettings& settings);
  void look_back(std::uint64_t number, int wanted, GraphKey& key);
  void prepare(std::uint64_t number, GraphKey& key, const Frame& in, const Frame& out);
  void order_history(std::uint64_t number, const GraphKey& key);
  void begin_noise();
  bool expect_sigma(InFlight& slot, const FrameSettings& settings) const;
  void step_noise(InFlight& slot, const FrameSettings& settings);
  void finish(InFlight& slot);

  Device device_;
  CUcontext context_ = nullptr;             ///< null until first needed, or until use_context
  std::vector<cudaStream_t> predecessors_;  ///< of the next frame
  FrameFormat format_;
  bool configured_ = false;
  std::atomic<bool> timing_{false};
  std::uint64_t submitted_ = 0;
  std::uint64_t history_from_ = 0;    ///< frames before this one say nothing about the next
  std::uint64_t history_until_ = 0;   ///< up to this frame, inputs in lanes may still be read by later frames
  std::shared_ptr<const Mask> mask_;  ///< what mask_pixels_ holds
  DeviceMemory mask_pixels_;
  PinnedMemory reports_;   ///< of each slot: sigma_report, smoothed_step
  DeviceMemory smoothed_;  ///< a SmoothedState for each channel of each group
  std::array<smoothing::Clock, max_groups> noise_clock_;
  FrameFormat noise_format_;       ///< of the frames that smoothed_ knows of
  std::uint64_t noise_frame_ = 0;  ///< the last that took part in the smoothed noise
  bool noise_running_ = false;     ///< there is such a frame since configure
  std::deque<Lane> lanes_;
  std::vector<InFlight> slots_;
  std::unique_ptr<RowCopier> copier_;
  Waiter input_waiter_, output_waiter_;
};

}  // namespace quietframe::cuda
