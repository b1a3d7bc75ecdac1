// Decoders work ahead of the filter by a bounded number of pictures, encoders finish behind it; the calling
// thread feeds the processor.
#include "pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
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

// The pictures in the processor, oldest first, and the memory they are filtered in.
class Flight {
 public:
  Flight(Conveyor& belt, Processor& processor, const FrameSettings& settings, int depth)
      : belt_(belt), processor_(processor), settings_(settings), depth_(static_cast<std::size_t>(depth)) {
    settings_.reset_history = true;  // each picture stands alone
  }

  ~Flight() { processor_.drain(); }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  /// Submits a decoded picture, after waiting for the oldest where there is no room.
  void submit(std::size_t i) {
    auto& item = belt_[i];
    if (!item.result.error.empty() || changes_nothing(settings_)) {
      while (!flying_.empty()) land();
      belt_.give_to_encode(i);
      return;
    }
    const auto format = work_format(item.picture);
    if (format != format_) catching(item.result, [&] { change_format(format); });
    if (!item.result.error.empty()) {
      belt_.give_to_encode(i);
      return;
    }
    if (flying_.size() >= depth_) land();
    auto& slot = slots_[next_slot_++ % depth_];
    picture_to_frame(item.picture, slot.in.frame());
    flying_.push_back(
        {i, processor_.submit(slot.in.frame(), slot.out.frame(), settings_), &slot, Clock::now()});
  }

  /// Waits for the oldest picture and passes it on.
  void land() {
    const auto flight = flying_.front();
    flying_.pop_front();
    auto& item = belt_[flight.item];
    catching(item.result, [&] {
      item.result.report = processor_.wait(flight.frame);
      frame_to_picture(flight.slot->out.frame(), item.picture);
    });
    item.result.filter_ms = ms_since(flight.start);
    belt_.give_to_encode(flight.item);
  }

  void land_all() {
    while (!flying_.empty()) land();
  }

 private:
  struct Slot {
    FrameBuffer in, out;
    explicit Slot(const FrameFormat& f) : in(f), out(f) {}
  };
  struct Flying {
    std::size_t item;
    std::uint64_t frame;
    Slot* slot;
    Clock::time_point start;
  };

  void change_format(const FrameFormat& format) {
    land_all();
    slots_.clear();
    format_ = {};
    processor_.configure(format, static_cast<int>(depth_));
    for (std::size_t s = 0; s < depth_; ++s) slots_.emplace_back(format);
    format_ = format;
  }

  Conveyor& belt_;
  Processor& processor_;
  FrameSettings settings_;
  std::size_t depth_;
  FrameFormat format_{};
  std::deque<Slot> slots_;
  std::size_t next_slot_ = 0;
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

PipelineTotals run_pipeline(const std::vector<InOut>& plan, Processor& processor,
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
    on_done(result);
  };
  {
    Flight flight(belt, processor, settings, options.in_flight);
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
