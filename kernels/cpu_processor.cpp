// The CPU backend: several frames in flight over one pool of threads, each converted to levels, filtered, and
// stored.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>

#include "finish.hpp"
#include "noise/estimate.hpp"
#include "noise/smoothed.hpp"
#include "processor.hpp"
#include "sample.hpp"
#include "simd/samples.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

using Clock = std::chrono::steady_clock;

float microseconds_since(Clock::time_point start) {
  return std::chrono::duration<float, std::micro>(Clock::now() - start).count();
}

void load_rows(const GroupView& v, const PlanarGroup& planes, int begin, int end) {
  for (int c = 0; c < v.channels; ++c)
    for (int y = begin; y < end; ++y)
      simd::load_levels(v, v.channel[c] + y * v.stride[c], v.width, planes.channel[c].row(y));
}

void store_rows(const PlanarGroup& before, const PlanarGroup& filtered, const GroupView& v, float strength,
                int begin, int end) {
  for (int c = 0; c < v.channels; ++c)
    for (int y = begin; y < end; ++y) {
      float* f = filtered.channel[c].row(y);
      const float* b = before.channel[c].row(y);
      if (strength != 1.f)
        for (int x = 0; x < v.width; ++x) f[x] = mix(b[x], f[x], strength);
      simd::store_levels(v, f, v.width, v.channel[c] + y * v.stride[c]);
    }
}

void copy_carry(const GroupView& in, const GroupView& out, int begin, int end) {
  for (int y = begin; y < end; ++y)
    for (int x = 0; x < in.width; ++x)
      out.carry[y * out.stride[0] + std::ptrdiff_t{x} * out.step] =
          in.carry[y * in.stride[0] + std::ptrdiff_t{x} * in.step];
}

void copy_orphan_luma(const Frame& in, const Frame& out) {
  const auto from = group_view(in, 0), to = group_view(out, 0);
  const std::ptrdiff_t x = std::ptrdiff_t{from.width} * from.step;
  for (int y = 0; y < from.height; ++y)
    to.channel[0][y * to.stride[0] + x] = from.channel[0][y * from.stride[0] + x];
}

// Samples of a group that is not filtered.
void copy_group(const GroupView& in, const GroupView& out) {
  const int bytes = in.type == SampleType::u8 ? 1 : in.type == SampleType::f32 ? 4 : 2;
  for (int c = 0; c < in.channels; ++c)
    for (int y = 0; y < in.height; ++y) {
      const std::byte* from = in.channel[c] + y * in.stride[c];
      std::byte* to = out.channel[c] + y * out.stride[c];
      if (in.step == bytes) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes) * static_cast<std::size_t>(in.width));
      } else {
        for (int x = 0; x < in.width; ++x)
          std::memcpy(to + std::ptrdiff_t{x} * out.step, from + std::ptrdiff_t{x} * in.step, bytes);
      }
    }
  if (in.carry) copy_carry(in, out, 0, in.height);
}

// The float planes of one group of one frame.
struct GroupPlanes {
  Scratch storage;
  PlanarGroup in, out;

  void resize(const GroupInfo& info, int frame_width, int frame_height) {
    const int w = group_width(info, frame_width), h = group_height(info, frame_height);
    in.channels = out.channels = info.channels;
    for (int c = 0; c < info.channels; ++c) {
      in.channel[c] = storage.plane(2 * c, w, h);
      out.channel[c] = storage.plane(2 * c + 1, w, h);
    }
  }
};

// One frame in levels. It outlives its slot, for the frames after it that look back.
struct Levels {
  enum class State { pending, loaded, absent };
  std::array<GroupPlanes, max_groups> groups;
  std::array<State, max_groups> state{};  ///< guarded by the processor's mutex
};

struct Slot {
  std::uint64_t number = 0;
  int available = 0;                                     ///< frames before this one that filters may look at
  std::array<bool, max_groups> noise_known{true, true};  ///< its part of the smoothed noise is done
  Scratch scratch;
  Frame in, out;
  FrameSettings settings;
  FrameReport report;
  std::exception_ptr error;
  bool done = true;
};

class CpuProcessor final : public Processor {
 public:
  CpuProcessor(int threads, CpuProgram program) : program_(program), pool_(threads) {}
  ~CpuProcessor() override { drain(); }

  ProcessorInfo info() const override {
    const int n = pool_.threads();
    return {"cpu", std::to_string(n) + (n == 1 ? " thread" : " threads")};
  }

  void configure(const FrameFormat& format, int slots) override {
    drain();
    if (format.width < 1 || format.height < 1 || format.width > 32767 || format.height > 32767)
      throw Error("frames of " + std::to_string(format.width) + "x" + std::to_string(format.height) +
                  " cannot be filtered: width and height are 1 to 32767");
    format_ = format;
    slots_ = std::vector<Slot>(static_cast<std::size_t>(std::clamp(slots, 1, 16)));
    pool_.reserve(static_cast<int>(slots_.size()));
    levels_ = std::vector<Levels>(slots_.size() + max_history);
    submitted_ = 0;
    // Another number of slots changes nothing in the stream: what is known of its noise stays.
    if (format != noise_format_) noise_ = {};
    noise_format_ = format;
    available_ = -1;
    const auto& info = format_info(format.format);
    for (auto& levels : levels_)
      for (int g = 0; g < info.groups; ++g)
        levels.groups[g].resize(info.group[g], format.width, format.height);
  }

  std::uint64_t submit(const Frame& in, const Frame& out, const FrameSettings& settings) override {
    const auto number = submitted_++;
    auto& slot = slot_of(number);
    slot.in = in;
    slot.out = out;
    slot.settings = settings;
    slot.report = {};
    slot.error = nullptr;
    slot.available = available_ = settings.reset_history ? 0 : std::min(available_ + 1, max_history);
    {
      const std::lock_guard lock(mutex_);
      slot.number = number;
      slot.noise_known.fill(false);
      levels_of(number).state.fill(Levels::State::pending);
      slot.done = false;
    }
    pool_.submit([this, &slot] { run(slot); });
    return number;
  }

  void wait_input(std::uint64_t frame) override { wait_done(slot_of(frame)); }

  FrameReport wait(std::uint64_t frame) override {
    auto& slot = slot_of(frame);
    wait_done(slot);
    if (slot.error) std::rethrow_exception(slot.error);
    return slot.report;
  }

  void drain() override {
    for (auto& slot : slots_) wait_done(slot);
  }

  void set_timing(bool) override {}  // two clock readings a frame are always affordable here

 private:
  Slot& slot_of(std::uint64_t frame) { return slots_[frame % slots_.size()]; }

  // A frame's levels are overwritten max_history frames after its slot is, when nobody looks back so far.
  Levels& levels_of(std::uint64_t frame) { return levels_[frame % levels_.size()]; }

  void set_state(std::uint64_t frame, int g, Levels::State state) {
    {
      const std::lock_guard lock(mutex_);
      levels_of(frame).state[g] = state;
    }
    done_.notify_all();
  }

  // Group g of up to `count` frames before the slot's, newest first. They are older, so a thread is at work
  // on each that is still pending.
  int collect_past(const Slot& slot, int g, int count, std::array<PlanarGroup, max_history>& past) {
    int found = 0;
    for (; found < std::min(count, slot.available); ++found) {
      auto& levels = levels_of(slot.number - static_cast<std::uint64_t>(found) - 1);
      std::unique_lock lock(mutex_);
      done_.wait(lock, [&] { return levels.state[g] != Levels::State::pending; });
      if (levels.state[g] == Levels::State::absent) break;
      past[found] = levels.groups[g].in;
    }
    return found;
  }

  void wait_done(Slot& slot) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return slot.done; });
  }

  void run(Slot& slot) {
    const auto start = Clock::now();
    try {
      const int groups = format_info(format_.format).groups;
      if (slot.settings.mask) check_mask(*slot.settings.mask, format_);
      if (has_orphan_luma(format_)) copy_orphan_luma(slot.in, slot.out);
      for (int g = 0; g < groups; ++g) {
        run_group(slot, g);
        if (needs_finish(slot.settings)) finish_group(slot, g);
      }
    } catch (...) {
      slot.error = std::current_exception();
      abandon(slot.number);
    }
    for (int g = 0; g < max_groups; ++g) pass_noise_turn(slot, g);
    slot.report.kernel_us = microseconds_since(start);
    {
      const std::lock_guard lock(mutex_);
      slot.done = true;
    }
    done_.notify_all();
  }

  // Lets those who wait for levels that will not come go on.
  void abandon(std::uint64_t frame) {
    {
      const std::lock_guard lock(mutex_);
      for (auto& state : levels_of(frame).state)
        if (state == Levels::State::pending) state = Levels::State::absent;
    }
    done_.notify_all();
  }

  void run_group(Slot& slot, int g) {
    const auto in = group_view(slot.in, g), out = group_view(slot.out, g);
    const auto& common = slot.settings.common;
    const auto* filter = slot.settings.filter;
    const float strength = common.strength * (in.chroma ? common.chroma_strength : 1.f);
    slot.report.sigma[g].fill(-1.f);
    if (!filter || strength == 0.f || (in.chroma && common.planes == Planes::luma)) {
      pass_noise_turn(slot, g);
      set_state(slot.number, g, Levels::State::absent);
      copy_group(in, out);
      return;
    }
    auto& planes = levels_of(slot.number).groups[g];
    pool_.parallel_for(in.height, 64, [&](int begin, int end, int) { load_rows(in, planes.in, begin, end); });
    set_state(slot.number, g, Levels::State::loaded);
    std::array<PlanarGroup, max_history> past;
    const auto looked_at =
        static_cast<std::size_t>(collect_past(slot, g, filter->history(slot.settings.params.data()), past));
    CpuJob job{planes.in,
               planes.out,
               std::span(past).first(looked_at),
               sigma_of(slot, planes.in, g),
               pool_,
               slot.scratch,
               {in.type == SampleType::f32 ? 0 : in.max_code, in.levels_per_code}};
    const auto run = program_ == CpuProgram::definition ? filter->run_definition : filter->run_cpu;
    run(job, slot.settings.params.data());
    if (filter->noise_use(slot.settings.params.data()) != NoiseUse::none) slot.report.sigma[g] = job.sigma;
    pool_.parallel_for(in.height, 64, [&](int begin, int end, int) {
      store_rows(planes.in, planes.out, out, strength, begin, end);
      if (in.carry) copy_carry(in, out, begin, end);
    });
  }

  void finish_group(Slot& slot, int g) {
    const auto& s = slot.settings;
    const auto in = group_view(slot.in, g), out = group_view(slot.out, g);
    const auto f =
        finish_of(format_, g, s.region, s.common.preview, s.mask ? s.mask->pixels.data() : nullptr);
    pool_.parallel_for(in.height, 64, [&](int begin, int end, int) { finish_rows(f, in, out, begin, end); });
  }

  std::array<float, max_channels> sigma_of(Slot& slot, const PlanarGroup& planes, int g) {
    std::array<float, max_channels> sigma{-1.f, -1.f, -1.f};
    const auto& settings = slot.settings;
    const auto use = settings.filter->noise_use(settings.params.data());
    if (settings.common.noise_sigma > 0.f)
      sigma.fill(settings.common.noise_sigma);
    else if (use != NoiseUse::none && settings.common.noise_estimate == NoiseEstimate::smoothed)
      smoothed_sigma(slot, planes, g, sigma);
    else if (use == NoiseUse::shared)
      for (int c = 0; c < planes.channels; ++c)
        sigma[c] = estimate_sigma(as_const(planes.channel[c]), pool_, slot.scratch, 0);
    return sigma;
  }

  // Measures at once, then takes the frame's turn: a frame's sigma comes from the frames before it, however
  // many run at the same time. The frame before has been started by another thread, which needs none of this
  // one.
  void smoothed_sigma(Slot& slot, const PlanarGroup& planes, int g, std::array<float, max_channels>& sigma) {
    std::array<NoiseMeasurement, max_channels> measured;
    for (int c = 0; c < planes.channels; ++c)
      measured[c] = measure_noise(as_const(planes.channel[c]), pool_, slot.scratch, 0);
    {
      std::unique_lock lock(mutex_);
      noise_turn_.wait(lock, [&] {
        return std::ranges::all_of(
            slots_, [&](const Slot& other) { return other.number >= slot.number || other.noise_known[g]; });
      });
      for (int c = 0; c < planes.channels; ++c)
        sigma[c] = noise_[g][c].next(measured[c], slot.settings.stream_time, slot.settings.reset_history);
    }
    pass_noise_turn(slot, g);
  }

  void pass_noise_turn(Slot& slot, int g) {
    {
      const std::lock_guard lock(mutex_);
      slot.noise_known[g] = true;
    }
    noise_turn_.notify_all();
  }

  const CpuProgram program_;
  FrameFormat format_;
  std::vector<Slot> slots_;
  std::vector<Levels> levels_;
  std::uint64_t submitted_ = 0;
  int available_ = -1;  ///< of the newest frame
  std::array<std::array<SmoothedSigma, max_channels>, max_groups> noise_;
  FrameFormat noise_format_;  ///< of the frames that noise_ knows of
  std::mutex mutex_;          ///< guards Slot::done, number and noise_known, Levels::state, and noise_
  std::condition_variable noise_turn_;
  std::condition_variable done_;
  ThreadPool pool_;  ///< last: its threads end before what they work on
};

}  // namespace

std::unique_ptr<Processor> make_cpu_processor(int threads, CpuProgram program) {
  return std::make_unique<CpuProcessor>(threads, program);
}

}  // namespace quietframe
