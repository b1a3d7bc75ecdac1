// quietframe denoise: a picture, a folder or a clip through a filter.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include <fmt/format.h>

#include "clip.hpp"
#include "command.hpp"
#include "pipeline.hpp"
#include "quality.hpp"

namespace quietframe::cli {
namespace {

struct Options {
  InputOutput files;
  FilterOptions filter;
  BackendOptions backend;
  RawOption raw;
  PipelineOptions pipeline;
  std::string reference;
  bool quiet = false;
};

double megapixels_per_second(double width, double height, double ms) {
  return ms > 0 ? width * height / ms / 1000 : 0;
}

std::string split_text(const FrameReport& r) {
  if (r.path == MemoryPath::host) return fmt::format("{:.3f} ms in the filter", r.kernel_us / 1000);
  return fmt::format("{:.3f} up / {:.3f} kernel / {:.3f} down", r.upload_us / 1000, r.kernel_us / 1000,
                     r.download_us / 1000);
}

void print_line(const PictureResult& r, const std::string& quality) {
  fmt::print("{:<28} {:>11} {:>9.2f} ms {:>8.1f} Mpix/s  ({}){}\n", r.in.filename().string(),
             fmt::format("{}x{}", r.width, r.height), r.filter_ms,
             megapixels_per_second(r.width, r.height, r.filter_ms), split_text(r.report), quality);
}

// A bar on the error output, so that lines on the standard output can go elsewhere.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  bool shown() const { return shown_; }
  void step() {
    ++done_;
    if (!shown_) return;
    constexpr std::size_t width = 40;
    const std::size_t filled = width * done_ / total_;
    fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {}/{}", "", filled, "", width - filled, done_, total_);
  }
  /// Makes room for a line of text.
  void clear() const {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  std::size_t total_, done_ = 0;
  bool shown_;
};

SelectedBackend start(const Options& o, const FrameSettings& settings) {
  auto selected = select_backend(o.backend.request());
  selected.processor->set_timing(true);
  if (!o.quiet) fmt::print("{}; {}\n", settings_text(settings, "", "="), selected.reason);
  return selected;
}

std::string quality_text(const Options& o, const PictureResult& r, ThreadPool& pool) {
  if (o.reference.empty() || !r.error.empty()) return {};
  fs::path reference = o.reference;
  if (fs::is_directory(reference)) reference /= r.in.filename();
  std::string text;
  with_name(r.out, [&] {
    const auto clean = named_read(reference);
    text = fmt::format("  {} (was {})", to_text(compare_pictures(clean, read_picture(r.out), pool)),
                       to_text(compare_pictures(clean, named_read(r.in), pool)));
  });
  return text;
}

// Kernels of different pictures may run at once, so what is left of the time is the least that was spent
// waiting.
void print_totals(const PipelineTotals& t) {
  const auto share = [&](double ms) { return 100 * std::clamp(ms / t.wall_ms, 0.0, 1.0); };
  fmt::print("{} pictures in {:.1f} ms, {:.1f} a second; {} failed; the filter ran {:.1f} % of the time",
             t.done, t.wall_ms, 1000 * t.done / t.wall_ms, t.failed, share(t.kernel_ms));
  if (t.copy_ms > 0) fmt::print(", copies {:.1f} %", share(t.copy_ms));
  fmt::print("; it waited for files {:.1f} %\n", 100 - share(t.kernel_ms + t.copy_ms));
}

ExitCode denoise_pictures(const Options& o, const std::vector<InOut>& plan, bool folder) {
  const auto settings = o.filter.settings();
  auto backend = start(o, settings);
  const ProcessorSource source = [&] {
    return backend.processor ? std::move(backend.processor) : select_backend(o.backend.request()).processor;
  };
  ThreadPool pool(1);
  std::string first_error;
  Progress progress(plan.size());
  const auto totals = run_pipeline(plan, source, settings, o.pipeline, [&](const PictureResult& r) {
    if (!r.error.empty()) {
      progress.clear();
      if (folder) fmt::print(stderr, "quietframe: {}\n", r.error);
      first_error = r.error;
    } else if (!o.quiet && (!progress.shown() || !folder)) {
      print_line(r, quality_text(o, r, pool));
    }
    if (folder) progress.step();
  });
  if (!folder && totals.failed > 0) throw FileError(first_error);
  progress.clear();
  if (folder && !o.quiet) print_totals(totals);
  return totals.failed == 0 ? ExitCode::ok : ExitCode::some_failed;
}

// Frames in flight, in order; reading, filtering and writing overlap.
class ClipFlight {
 public:
  ClipFlight(ClipReader& reader, ClipWriter& writer, Processor& processor, int depth)
      : reader_(reader), writer_(writer), processor_(processor), depth_(static_cast<std::size_t>(depth)) {
    processor.configure(reader.info().format, depth);
    for (int i = 0; i < depth; ++i) slots_.emplace_back(reader.info().format);
  }

  ~ClipFlight() { processor_.drain(); }  // what is in flight uses the slots
  ClipFlight(const ClipFlight&) = delete;
  ClipFlight& operator=(const ClipFlight&) = delete;

  void run(FrameSettings settings) {
    const auto& info = reader_.info();
    for (std::uint64_t t = 0;; ++t) {
      if (flying_.size() >= depth_) land();
      auto& slot = slots_[t % depth_];
      if (!reader_.read(slot.in.frame())) break;
      settings.reset_history = t == 0;
      settings.stream_time =
          static_cast<std::int64_t>(static_cast<double>(t) * 1e9 * info.rate_den / info.rate_num);
      flying_.push_back({processor_.submit(slot.in.frame(), slot.out.frame(), settings), &slot});
    }
    while (!flying_.empty()) land();
    writer_.finish();
  }

  int frames() const { return frames_; }
  const FrameReport& total() const { return total_; }

 private:
  struct Slot {
    FrameBuffer in, out;
    explicit Slot(const FrameFormat& f) : in(f), out(f) {}
  };
  struct Flying {
    std::uint64_t frame;
    Slot* slot;
  };

  void land() {
    const auto f = flying_.front();
    flying_.pop_front();
    const auto report = processor_.wait(f.frame);
    total_.upload_us += report.upload_us;
    total_.kernel_us += report.kernel_us;
    total_.download_us += report.download_us;
    writer_.write(f.slot->out.frame());
    ++frames_;
  }

  ClipReader& reader_;
  ClipWriter& writer_;
  Processor& processor_;
  std::size_t depth_;
  std::deque<Slot> slots_;
  std::deque<Flying> flying_;
  int frames_ = 0;
  FrameReport total_;
};

ExitCode denoise_clip(const Options& o) {
  const auto settings = o.filter.settings();
  const auto raw = o.raw.format();
  const auto reader = open_clip(o.files.input, raw);
  const auto output = o.files.output_or("_output");
  const auto writer = create_clip(output, reader->info(), raw.has_value());
  const auto backend = start(o, settings);
  const auto begin = std::chrono::steady_clock::now();
  ClipFlight flight(*reader, *writer, *backend.processor, o.pipeline.in_flight);
  flight.run(settings);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (o.quiet) return ExitCode::ok;
  const auto& f = reader->info().format;
  const float n = static_cast<float>(std::max(flight.frames(), 1));
  const FrameReport mean{
      {}, flight.total().upload_us / n, flight.total().kernel_us / n, flight.total().download_us / n, 0, {}};
  fmt::print("{}  {}x{} {}  {} frames in {:.1f} ms, {:.1f} a second  ({} a frame)\n", output.string(),
             f.width, f.height, format_info(f.format).name, flight.frames(), ms, 1000 * flight.frames() / ms,
             split_text(mean));
  return ExitCode::ok;
}

ExitCode denoise(const Options& o) {
  const fs::path input = o.files.input;
  if (!fs::exists(input)) throw FileError(input.string() + " is not there");
  if (o.raw.format() || is_clip(input)) return denoise_clip(o);
  if (fs::is_directory(input)) {
    const fs::path output = o.files.output.empty() ? input / "output" : fs::path(o.files.output);
    return denoise_pictures(o, plan_folder(input, output), true);
  }
  auto output = o.files.output_or("_output");
  if (fs::is_directory(output)) output /= without_extension(input.filename()) += output_extension(input);
  check_can_write(output);
  return denoise_pictures(o, {{input, output}}, false);
}

}  // namespace

Run make_denoise(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  o->files.add_to(app, "Picture, folder or clip", "Where to write");
  o->filter.add_to(app);
  app.add_option("--reference", o->reference,
                 "Clean picture, or folder of them by name: prints PSNR and SSIM")
      ->type_name("FILE");
  o->backend.add_to(app);
  app.add_option("--in-flight", o->pipeline.in_flight, "Frames in the backend at a time")
      ->type_name("1..16")
      ->group("Backend")
      ->capture_default_str()
      ->check(CLI::Range(1, 16));
  app.add_option("--io-threads", o->pipeline.io_threads,
                 "Threads that decode, and as many that encode; 0 is half of the CPUs each")
      ->type_name("N")
      ->group("Backend")
      ->capture_default_str()
      ->check(CLI::Range(0, 256));
  o->pipeline.depth.add_to(app);
  o->raw.add_to(app);
  app.add_flag("-q,--quiet", o->quiet, "Print errors only");
  return [o] { return denoise(*o); };
}

}  // namespace quietframe::cli
