// Frames in flight on the GPU: staging, ordering, launching, waiting, reporting.
#include "cuda/cuda_processor.hpp"

#include <algorithm>
#include <string>

#include "cuda/context.hpp"
#include "cuda/error.hpp"
#include "cuda/runtime.hpp"
#include "finish.hpp"

namespace quietframe::cuda {
namespace {

constexpr int max_side = 32767;
// An event between upload and kernels adds 8 us to a lone frame on an H200 (and nothing to frames that
// overlap): below this size the input is let go with the output, which comes a few tens of microseconds
// later.
constexpr std::size_t least_upload_event = 1U << 20;
constexpr std::size_t sigma_bytes = sizeof(float) * max_groups * max_channels;
constexpr std::size_t report_bytes = sigma_bytes + sizeof(SmoothedStep) * max_groups;
constexpr std::size_t smoothed_bytes = sizeof(SmoothedState) * max_groups * max_channels;
static_assert(sigma_bytes % alignof(SmoothedStep) == 0);

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

std::string describe(const FrameFormat& f) {
  return std::to_string(f.width) + "x" + std::to_string(f.height) + " " + format_info(f.format).name;
}

}  // namespace

CudaProcessor::CudaProcessor(Device device) : device_(std::move(device)) { use_host_memory_with(device_.id); }

CudaProcessor::~CudaProcessor() { release(); }

// All that lives in the context.
void CudaProcessor::release() noexcept {
  configured_ = false;
  const ContextScope inside(context_, std::nothrow);
  drain();
  lanes_.clear();
  slots_.clear();
  reports_.reset();
  smoothed_.reset();
  mask_.reset();
  mask_pixels_.reset();
}

void CudaProcessor::use_context(void* context) {
  if (context && context == context_) return;
  release();
  context_ = static_cast<CUcontext>(context);
}

ProcessorInfo CudaProcessor::info() const {
  return {"cuda", device_.name + " (device " + std::to_string(device_.id) + ")"};
}

CUcontext CudaProcessor::context() {
  if (!context_) QF_CUDA_CHECK(runtime().primary_context(device_.id, &context_));
  return context_;
}

void CudaProcessor::configure(const FrameFormat& format, int slots) {
  configured_ = false;
  const ContextScope inside(context());
  drain();
  if (format.width < 1 || format.height < 1 || format.width > max_side || format.height > max_side)
    throw Error("frames of " + describe(format) + " cannot be filtered: width and height are 1 to 32767");
  format_ = format;
  const auto count = static_cast<std::size_t>(std::clamp(slots, 1, 16));
  try {
    make_slots(count);
    make_lanes(count);
  } catch (...) {
    lanes_.clear();
    slots_.clear();
    throw;
  }
  submitted_ = history_from_ = history_until_ = 0;
  mask_.reset();  // it is checked anew against the frames' size
  mask_pixels_.reset();
  input_waiter_.reset();
  output_waiter_.reset();
  configured_ = true;
}

// Fewer lanes than asked for are better than none.
void CudaProcessor::make_lanes(std::size_t count) {
  lanes_.resize(count);
  for (std::size_t i = 0; i < count; ++i) try {
      if (i == 0) begin_noise();
      lanes_[i].allocate(format_);
    } catch (const CudaError& e) {
      if (e.fault() != Fault::out_of_memory) throw;
      lanes_.resize(i);
      if (i > 0) return;
      std::size_t free = 0;
      if (runtime().memory_free(&free) != 0) runtime().take_last_error();
      throw Error("not enough memory on " + info().device + " for one frame of " + describe(format_) + ", " +
                  mebibytes(2 * device_capacity(format_)) + " (" + mebibytes(free) + " free). " + e.what());
    }
}

void CudaProcessor::make_slots(std::size_t count) {
  if (slots_.size() != count) {
    slots_.clear();
    slots_.resize(count);
    reports_ = allocate_pinned(count * report_bytes);
  }
  for (std::size_t i = 0; i < count; ++i) {
    auto& slot = slots_[i];
    slot.sigma_report = reinterpret_cast<float*>(reports_.get() + i * report_bytes);
    slot.smoothed_step = reinterpret_cast<SmoothedStep*>(reports_.get() + i * report_bytes + sigma_bytes);
    slot.staged_in.release();
    slot.staged_out.release();
    if (slot.events.done) continue;
    slot.events.uploaded = make_event(EventKind::blocking);
    slot.events.noise_known = make_event(EventKind::ordering);
    slot.events.done = make_event(EventKind::blocking);
  }
}

std::uint64_t CudaProcessor::submit(const Frame& in, const Frame& out, const FrameSettings& settings) {
  if (!configured_) throw Error("frames were submitted to a processor that is not configured");
  const auto number = submitted_++;
  auto& slot = slot_of(number);
  slot.report = {};
  slot.error = nullptr;
  slot.in_copied = slot.upload_event = slot.unstage = slot.timed = false;
  slot.out = out;
  lane_of(number).let_go();
  try {
    const ContextScope inside(context_);
    start(number, slot, in, out, settings);
  } catch (...) {
    slot.error = std::current_exception();
    const ContextScope inside(context_, std::nothrow);
    lane_of(number).synchronize();  // the caller may free the frame's memory as soon as wait() has thrown
    history_from_ = number + 1;
  }
  predecessors_.clear();
  return number;
}

void CudaProcessor::start(std::uint64_t number, InFlight& slot, Frame in, Frame out,
                          const FrameSettings& settings) {
  if (in.format != format_ || out.format != format_)
    throw Error("a frame of " + describe(in.format == format_ ? out.format : in.format) +
                " was submitted to a processor configured for " + describe(format_));
  use_mask(settings.mask);
  stage(slot, in, out);
  const bool smoothed =
      expect_sigma(slot, settings) && settings.common.noise_estimate == NoiseEstimate::smoothed;
  if (settings.reset_history) history_from_ = number;
  auto key = key_of(number, slot, in, out, settings);
  if (smoothed) {
    step_noise(slot, settings);
    key.smoothed = reinterpret_cast<SmoothedState*>(smoothed_.get());
    key.smoothed_step = slot.smoothed_step;
    // Frames that were waited for need no ordering any more.
    if (noise_running_ && number - noise_frame_ < slots_.size())
      key.smoothed_after = slot_of(noise_frame_).events.noise_known.get();
  }
  prepare(number, key, in, out);
  auto& lane = lane_of(number);
  order_history(number, key);
  order_predecessors(number, slot);
  slot.launched = Waiter::Clock::now();
  lane.launch(key, in, out);
  if (smoothed) {
    noise_frame_ = number;
    noise_running_ = true;
  }
  QF_CUDA_CHECK(runtime().event_record(slot.events.done.get(), lane.stream()));
  slot.upload_event = key.upload_event;
  slot.timed = key.timing;
  if (in.memory != MemoryKind::device || key.keep_input) lane.hold(number, key);
}

// A mask changes seldom, so all frames share the one on the device, and those in flight finish with the old
// one first.
void CudaProcessor::use_mask(const std::shared_ptr<const Mask>& mask) {
  if (mask == mask_) return;
  if (mask) check_mask(*mask, format_);
  drain();
  mask_.reset();
  mask_pixels_.reset();
  if (!mask) return;
  mask_pixels_ = allocate_device(mask->pixels.size());
  QF_CUDA_CHECK(runtime().device_upload(mask_pixels_.get(), mask->pixels.data(), mask->pixels.size()));
  mask_ = mask;
}

// Ordinary memory cannot be read by the GPU's copy engines beside other work: the driver would copy it
// through a buffer of its own, on this thread, with the streams at a halt.
void CudaProcessor::stage(InFlight& slot, Frame& in, Frame& out) {
  if (in.memory == MemoryKind::pageable || out.memory == MemoryKind::pageable) {
    if (!copier_) copier_ = std::make_unique<RowCopier>();
    slot.report.path = MemoryPath::staged;
  } else if (in.memory == MemoryKind::device && out.memory == MemoryKind::device) {
    slot.report.path = MemoryPath::device;
  } else {
    slot.report.path = MemoryPath::direct;
  }
  if (in.memory == MemoryKind::pageable) {
    if (!slot.staged_in.ready_for(format_)) slot.staged_in.allocate(format_);
    slot.report.cpu_copied_bytes += copier_->copy(in, slot.staged_in.frame());
    slot.in_copied = true;
    in = slot.staged_in.frame();
  }
  if (out.memory == MemoryKind::pageable) {
    if (!slot.staged_out.ready_for(format_)) slot.staged_out.allocate(format_);
    slot.unstage = true;
    out = slot.staged_out.frame();
  }
}

GraphKey CudaProcessor::key_of(std::uint64_t number, InFlight& slot, const Frame& in, const Frame& out,
                               const FrameSettings& settings) {
  GraphKey key;
  key.filter = settings.filter;
  key.params = settings.params;
  key.common = settings.common;
  key.finish = needs_finish(settings);
  key.region = settings.region;
  key.mask = reinterpret_cast<const std::uint8_t*>(mask_pixels_.get());
  key.timing = timing_;
  key.events = &slot.events;
  key.sigma_report = slot.sigma_report;
  const auto capacity = lane_of(number).capacity();
  key.in = layout_of(in, capacity, Padding::may_write);
  key.out = layout_of(out, capacity, slot.unstage ? Padding::may_write : Padding::keep);
  if (in.memory == MemoryKind::device) key.in_device = in;
  if (out.memory == MemoryKind::device) key.out_device = out;
  if (key.timing)
    for (auto& event : slot.events.timing)
      if (!event) event = make_event(EventKind::timing);
  return key;
}

// Finds the inputs of earlier frames that are still on the device.
void CudaProcessor::look_back(std::uint64_t number, int wanted, GraphKey& key) {
  key.past = 0;
  key.keep_input = wanted > 0;
  key.upload_event = key.in.bytes >= least_upload_event && (key.keep_input || !key.in_device.plane[0]);
  for (int i = 1; i <= wanted; ++i) {
    if (number < history_from_ + static_cast<std::uint64_t>(i)) return;
    const auto* held =
        lane_of(number - static_cast<std::uint64_t>(i)).held(number - static_cast<std::uint64_t>(i));
    if (!held) return;
    key.past_frames[key.past++] = *held;
  }
}

void CudaProcessor::prepare(std::uint64_t number, GraphKey& key, const Frame& in, const Frame& out) {
  const auto wanted = key.filter ? static_cast<std::size_t>(key.filter->history(key.params.data())) : 0;
  if (wanted >= lanes_.size()) {
    // A multiple of the slots, so that a lane always meets the same slot's events and its graph stays as it
    // is.
    drain();
    const auto before = lanes_.size();
    lanes_.resize((wanted + slots_.size()) / slots_.size() * slots_.size());
    for (auto i = before; i < lanes_.size(); ++i) lanes_[i].allocate(format_);
    history_from_ = number;
  }
  for (;;) {
    look_back(number, static_cast<int>(wanted), key);
    try {
      return lane_of(number).prepare(key, in, out);
    } catch (const CudaError& e) {
      if (e.fault() != Fault::out_of_memory || lanes_.size() <= wanted + 1) throw;
      drain();
      lanes_.resize(std::max(wanted + 1, lanes_.size() / 2));
      history_from_ = number;
    }
  }
}

// Lanes run side by side: a frame that looks back waits for the uploads it reads, and a lane's input is not
// overwritten while a later frame may read it. Frames that were waited for need no ordering any more.
void CudaProcessor::order_history(std::uint64_t number, const GraphKey& key) {
  const auto stream = lane_of(number).stream();
  const auto in_flight = std::min<std::uint64_t>(slots_.size() - 1, number);
  for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(in_flight, static_cast<std::uint64_t>(key.past));
       ++i) {
    const auto& earlier = slot_of(number - i);
    const auto& event = earlier.upload_event ? earlier.events.uploaded : earlier.events.done;
    QF_CUDA_CHECK(runtime().stream_wait(stream, event.get()));
  }
  if (number < history_until_)
    for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(in_flight, lanes_.size() - 1); ++i)
      QF_CUDA_CHECK(runtime().stream_wait(stream, slot_of(number - i).events.done.get()));
  if (key.past > 0) history_until_ = number + lanes_.size() + 1;
}

void CudaProcessor::order_predecessors(std::uint64_t number, InFlight& slot) {
  for (std::size_t i = 0; i < std::min(predecessors_.size(), slot.before.size()); ++i) {
    auto& event = slot.before[i];
    if (!event) event = make_event(EventKind::ordering);
    QF_CUDA_CHECK(runtime().event_record(event.get(), predecessors_[i]));
    QF_CUDA_CHECK(runtime().stream_wait(lane_of(number).stream(), event.get()));
  }
}

// Another number of slots changes nothing in the stream: what is known of its noise stays.
void CudaProcessor::begin_noise() {
  noise_running_ = false;
  if (smoothed_ && noise_format_ == format_) return;
  if (!smoothed_) smoothed_ = allocate_device(smoothed_bytes);
  noise_format_ = {};
  QF_CUDA_CHECK(runtime().device_clear(smoothed_.get(), smoothed_bytes));
  noise_clock_ = {};
  noise_format_ = format_;
}

void CudaProcessor::step_noise(InFlight& slot, const FrameSettings& settings) {
  for (int g = 0; g < max_groups; ++g)
    if (slot.estimated[g])
      slot.smoothed_step[g] = {noise_clock_[g].seconds_to(settings.stream_time), settings.reset_history};
}

// Whether any of the frame's noise is to be estimated.
bool CudaProcessor::expect_sigma(InFlight& slot, const FrameSettings& settings) const {
  bool any = false;
  const auto& info = format_info(format_.format);
  for (int g = 0; g < max_groups; ++g) {
    slot.report.sigma[g].fill(-1.f);
    slot.estimated[g] = false;
    if (g >= info.groups || !settings.filter) continue;
    const bool chroma = info.group[g].chroma;
    const auto& common = settings.common;
    if (common.strength == 0.f ||
        (chroma && (common.planes == Planes::luma || common.chroma_strength == 0.f)))
      continue;
    if (settings.filter->noise_use(settings.params.data()) == NoiseUse::none) continue;
    if (common.noise_sigma > 0.f)
      slot.report.sigma[g].fill(common.noise_sigma);
    else
      slot.estimated[g] = any = true;
  }
  return any;
}

void CudaProcessor::wait_input(std::uint64_t frame) {
  auto& slot = slot_of(frame);
  if (slot.error || slot.in_copied) return;
  try {
    const ContextScope inside(context_);
    const auto& event = slot.upload_event ? slot.events.uploaded : slot.events.done;
    input_waiter_.wait(event.get(), slot.launched);
  } catch (const CudaError&) {
    // wait() will throw it; a failed GPU reads nothing any more.
  }
}

FrameReport CudaProcessor::wait(std::uint64_t frame) {
  auto& slot = slot_of(frame);
  if (slot.error) std::rethrow_exception(slot.error);
  const ContextScope inside(context_);
  output_waiter_.wait(slot.events.done.get(), slot.launched);
  finish(slot);
  return slot.report;
}

void CudaProcessor::finish(InFlight& slot) {
  const auto& info = format_info(format_.format);
  for (int g = 0; g < info.groups; ++g)
    if (slot.estimated[g])
      for (int c = 0; c < info.group[g].channels; ++c)
        slot.report.sigma[g][c] = slot.sigma_report[g * max_channels + c];
  if (slot.unstage) slot.report.cpu_copied_bytes += copier_->copy(slot.staged_out.frame(), slot.out);
  if (!slot.timed) return;
  float* const spans[] = {&slot.report.upload_us, &slot.report.kernel_us, &slot.report.download_us};
  for (std::size_t i = 0; i < std::size(spans); ++i) {
    float ms = 0;
    QF_CUDA_CHECK(runtime().event_elapsed(&ms, slot.events.timing[i].get(), slot.events.timing[i + 1].get()));
    *spans[i] = ms * 1000.f;
  }
}

void CudaProcessor::drain() {
  const ContextScope inside(context_, std::nothrow);
  for (auto& lane : lanes_) lane.synchronize();
}

}  // namespace quietframe::cuda
