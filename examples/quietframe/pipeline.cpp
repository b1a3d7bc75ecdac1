// Decoders work ahead of the filter by a bounded number of pictures, encoders finish behind it; the calling
// thread feeds the processor.
#include "pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "clip.hpp"

namespace quietframe::cli {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Runs `work`; what it throws about the file becomes the picture's error.
template <class F>
void catching(PictureResult& result, F&& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    result.error = result.in.string() + ": memory ran out";
  } catch (const FileError& e) {
    result.error = e.what();
  } catch (const std::exception& e) {
    result.error = result.in.string() + ": " + e.what();
  }
}

struct Item {
  PictureResult result;
  Picture picture;
  bool decoded = false, finished = false;
};

// Hands out indices to threads and lets others wait for what they made of them.
class Conveyor {
 public:
  explicit Conveyor(const std::vector<InOut>& plan) : items_(plan.size()) {
    for (std::size_t i = 0; i < plan.size(); ++i) {
      items_[i].result.in = plan[i].in;
      items_[i].result.out = plan[i].out;
    }
  }

  Item& operator[](std::size_t i) { return items_[i]; }
  std::size_t size() const { return items_.size(); }

  /// The next picture to decode, at most `ahead` before the first that is not finished; none: no more.
  std::optional<std::size_t> next_to_decode(std::size_t ahead) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return stopping_ || decode_next_ >= size() || decode_next_ < first_unfinished_ + ahead;
    });
    if (stopping_ || decode_next_ >= size()) return {};
    return decode_next_++;
  }
  std::optional<std::size_t> next_to_encode() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !to_encode_.empty(); });
    if (to_encode_.empty()) return {};
    const auto i = to_encode_.front();
    to_encode_.pop_front();
    return i;
  }
  void set_decoded(std::size_t i) {
    change([&] { items_[i].decoded = true; });
  }
  void give_to_encode(std::size_t i) {
    change([&] { to_encode_.push_back(i); });
  }
  void set_finished(std::size_t i) {
    change([&] {
      items_[i].finished = true;
      while (first_unfinished_ < size() && items_[first_unfinished_].finished) ++first_unfinished_;
    });
  }
  void stop() {
    change([&] { stopping_ = true; });
  }

  void wait_decoded(std::size_t i) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return items_[i].decoded; });
  }
  bool is_finished(std::size_t i) {
    const std::lock_guard lock(mutex_);
    return items_[i].finished;
  }
  void wait_finished(std::size_t i) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return items_[i].finished; });
  }

 private:
  template <class F>
  void change(F&& f) {
    {
      const std::lock_guard lock(mutex_);
      f();
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_;
  std::deque<std::size_t> to_encode_;
  std::size_t decode_next_ = 0, first_unfinished_ = 0;
  bool stopping_ = false;
};

void decode_all(Conveyor& belt, const PipelineOptions& options, std::size_t ahead) {
  while (const auto i = belt.next_to_decode(ahead)) {
    auto& item = belt[*i];
    const auto start = Clock::now();
    catching(item.result, [&] {
      item.picture = options.depth.apply(named_read(item.result.in));
      item.result.width = item.picture.width;
      item.result.height = item.picture.height;
    });
    item.result.decode_ms = ms_since(start);
    belt.set_decoded(*i);
  }
}

void encode_all(Conveyor& belt) {
  while (const auto i = belt.next_to_encode()) {
    auto& item = belt[*i];
    const auto start = Clock::now();
    if (item.result.error.empty()) catching(item.result, [&] { named_write(item.result.out, item.picture); });
    item.result.encode_ms = ms_since(start);
    item.picture = {};
    belt.set_finished(*i);
  }
}

// A processor that is set up for one format, and the memory of the pictures in it. Setting one up allocates
// and pins, so those of several formats are kept.
struct Bay {
  struct Slot {
    FrameBuffer in, out;
    explicit Slot(const FrameFormat& f) : in(f), out(f) {}
  };

  Bay(std::unique_ptr<Processor> p, const FrameFormat& f, std::size_t depth)
      : format(f), processor(std::move(p)) {
    processor->set_timing(true);
    processor->configure(format, static_cast<int>(depth));
    for (std::size_t s = 0; s < depth; ++s) slots.emplace_back(format);
  }
  ~Bay() { processor->drain(); }  // what is in flight uses the slots
  Bay(const Bay&) = delete;
  Bay& operator=(const Bay&) = delete;

  std::size_t bytes() const { return slots.size() * 2 * slots.front().in.bytes(); }
  Slot& next() { return slots[next_slot++ % slots.size()]; }

  FrameFormat format;
  std::deque<Slot> slots;
  std::unique_ptr<Processor> processor;
  std::size_t next_slot = 0;
};

// The bays, last used first; there is always room for one.
class Bays {
 public:
  Bays(const ProcessorSource& source, std::size_t depth) : source_(source), depth_(depth) {}

  /// The bay for a format, or null where it has to be made.
  Bay* find(const FrameFormat& format) {
    const auto it = std::ranges::find_if(bays_, [&](const Bay& b) { return b.format == format; });
    if (it == bays_.end()) return nullptr;
    bays_.splice(bays_.begin(), bays_, it);
    return &bays_.front();
  }
  /// Nothing is in flight. Makes room, and where that is not enough, all of it.
  Bay& make(const FrameFormat& format) {
    // Where nothing is pinned there is little to make: one pool of threads is enough.
    if (!bays_.empty() && bays_.front().slots.front().in.frame().memory != MemoryKind::pinned) bays_.clear();
    const std::size_t coming = depth_ * 2 * pack_frame(format, nullptr, nullptr);
    std::size_t kept = coming;
    for (const auto& b : bays_) kept += b.bytes();
    for (; !bays_.empty() && (kept > max_bytes || bays_.size() >= max_bays); bays_.pop_back())
      kept -= bays_.back().bytes();
    try {
      return bays_.emplace_front(source_(), format, depth_);
    } catch (const std::exception&) {
      if (bays_.empty()) throw;
      bays_.clear();
      return bays_.emplace_front(source_(), format, depth_);
    }
  }

 private:
  static constexpr std::size_t max_bytes = std::size_t{1} << 30, max_bays = 16;
  const ProcessorSource& source_;
  std::size_t depth_;
  std::list<Bay> bays_;
};

// The pictures in the processors, oldest first.
class Flight {
 public:
  Flight(Conveyor& belt, const ProcessorSource& source, const FrameSettings& settings, int depth)
      : belt_(belt),
        settings_(settings),
        depth_(static_cast<std::size_t>(depth)),
        bays_(source, static_cast<std::size_t>(depth)) {
    settings_.reset_history = true;  // each picture stands alone
  }

  /// Submits a decoded picture, after waiting for the oldest where there is no room.
  void submit(std::size_t i) {
    auto& item = belt_[i];
    if (!item.result.error.empty() || changes_nothing(settings_)) {
      belt_.give_to_encode(i);
      return;
    }
    const auto format = work_format(item.picture);
    auto* bay = bays_.find(format);
    if (!bay) {
      land_all();
      catching(item.result, [&] { bay = &bays_.make(format); });
    }
    if (!item.result.error.empty()) {
      belt_.give_to_encode(i);
      return;
    }
    if (flying_.size() >= depth_) land();
    auto& slot = bay->next();
    picture_to_frame(item.picture, slot.in.frame());
    flying_.push_back(
        {i, bay->processor->submit(slot.in.frame(), slot.out.frame(), settings_), bay, &slot, Clock::now()});
  }

  /// Waits for the oldest picture and passes it on.
  void land() {
    const auto flight = flying_.front();
    flying_.pop_front();
    auto& item = belt_[flight.item];
    catching(item.result, [&] {
      item.result.report = flight.bay->processor->wait(flight.frame);
      frame_to_picture(flight.slot->out.frame(), item.picture);
    });
    item.result.filter_ms = ms_since(flight.start);
    belt_.give_to_encode(flight.item);
  }

  void land_all() {
    while (!flying_.empty()) land();
  }

 private:
  struct Flying {
    std::size_t item;
    std::uint64_t frame;
    Bay* bay;
    Bay::Slot* slot;
    Clock::time_point start;
  };

  Conveyor& belt_;
  FrameSettings settings_;
  std::size_t depth_;
  Bays bays_;
  std::deque<Flying> flying_;
};

// Threads that end when they go out of scope, whatever is thrown.
class Crew {
 public:
  Crew(Conveyor& belt, const PipelineOptions& options, std::size_t ahead) : belt_(belt) {
    const int cpus = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int each = options.io_threads > 0 ? options.io_threads : std::max(1, cpus / 2);
    for (int i = 0; i < each; ++i) {
      threads_.emplace_back([&belt, &options, ahead] { decode_all(belt, options, ahead); });
      threads_.emplace_back([&belt] { encode_all(belt); });
    }
  }
  ~Crew() {
    belt_.stop();
    for (auto& t : threads_) t.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

 private:
  Conveyor& belt_;
  std::vector<std::thread> threads_;
};

}  // namespace

PipelineTotals run_pipeline(const std::vector<InOut>& plan, const ProcessorSource& source,
                            const FrameSettings& settings, const PipelineOptions& options,
                            const std::function<void(const PictureResult&)>& on_done) {
  const auto start = Clock::now();
  PipelineTotals totals;
  Conveyor belt(plan);
  std::size_t reported = 0;
  auto report = [&](std::size_t i) {
    const auto& result = belt[i].result;
    result.error.empty() ? ++totals.done : ++totals.failed;
    totals.kernel_ms += static_cast<double>(result.report.kernel_us) / 1000;
    totals.copy_ms += static_cast<double>(result.report.upload_us + result.report.download_us) / 1000;
    on_done(result);
  };
  {
    Flight flight(belt, source, settings, options.in_flight);
    const Crew crew(belt, options, static_cast<std::size_t>(options.in_flight) * 3);
    for (std::size_t i = 0; i < belt.size(); ++i) {
      belt.wait_decoded(i);
      flight.submit(i);
      for (; reported < i && belt.is_finished(reported); ++reported) report(reported);
    }
    flight.land_all();
    for (; reported < belt.size(); ++reported) {
      belt.wait_finished(reported);
      report(reported);
    }
  }
  totals.wall_ms = ms_since(start);
  return totals;
}

Picture filter_picture(const Picture& picture, Processor& processor, const FrameSettings& settings,
                       FrameReport* report) {
  Picture out = picture;
  if (changes_nothing(settings)) return out;
  const auto format = work_format(picture);
  const FrameBuffer in(format), filtered(format);
  picture_to_frame(picture, in.frame());
  processor.configure(format, 1);
  auto alone = settings;
  alone.reset_history = true;
  const auto r = processor.wait(processor.submit(in.frame(), filtered.frame(), alone));
  if (report) *report = r;
  frame_to_picture(filtered.frame(), out);
  return out;
}

}  // namespace quietframe::cli
