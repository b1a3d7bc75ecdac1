// quietframe bench: times filters over sizes, parameters and backends, and writes what it measured.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "clip.hpp"
#include "command.hpp"
#include "cuda/device.hpp"
#include "files.hpp"
#include "noise/models.hpp"
#include "options.hpp"
#include "phantom/phantom.hpp"
#include "thread_pool.hpp"

namespace quietframe::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> filters, sizes = {"1024x1024"}, backends, sweeps, settings;
  std::string format = "RGB", json, csv, plot;
  int runs = 5, threads = 0, device = -1, in_flight = 4;
};

struct Row {
  std::string filter, settings, backend, device;
  int width = 0, height = 0;
  double best_ms = 0, median_ms = 0;                     ///< one frame alone, from submission to completion
  double upload_ms = 0, kernel_ms = 0, download_ms = 0;  ///< medians of the runs
  double stream_ms = 0;                                  ///< a frame, with several in flight
};

double median(std::vector<double> v) {
  std::ranges::sort(v);
  const auto n = v.size();
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

// What a frame shows does not change how long a filter takes, but for the median's; the test target has both
// smooth and busy parts, with noise of 20 levels on all planes.
void fill(const Frame& frame, ThreadPool& pool) {
  const auto groups = format_info(frame.format.format).groups;
  const auto target = make_phantom({PhantomKind::target, 20.f}, frame.format.width, frame.format.height, 1);
  Planes scene(frame.format.width, frame.format.height, 3);
  target->render(0, nullptr, &scene.group, pool);
  for (int g = 0; g < groups; ++g) {
    const auto view = group_view(frame, g);
    Planes planes(view.width, view.height, view.channels);
    for (int c = 0; c < view.channels; ++c)
      for (int y = 0; y < view.height; ++y)
        for (int x = 0; x < view.width; ++x)
          planes.group.channel[static_cast<std::size_t>(c)].row(y)[x] =
              scene.group.channel[static_cast<std::size_t>(c)].row(
                  y * frame.format.height / view.height)[x * frame.format.width / view.width];
    planes_to_group(planes.group, view);
  }
}

class Bench {
 public:
  Bench(const Options& o, Processor& processor) : options_(o), processor_(processor), pool_(o.threads) {
    processor_.set_timing(true);
  }
  ~Bench() { processor_.drain(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Row measure(const FrameSettings& settings, const FrameFormat& format) {
    prepare(format);
    Row row;
    std::vector<double> wall, up, kernel, down;
    warm_up(settings);
    for (int i = 0; i < options_.runs; ++i) {
      const auto start = Clock::now();
      const auto r = one(settings);
      wall.push_back(ms_since(start));
      up.push_back(static_cast<double>(r.upload_us) / 1000);
      kernel.push_back(static_cast<double>(r.kernel_us) / 1000);
      down.push_back(static_cast<double>(r.download_us) / 1000);
    }
    row.best_ms = *std::ranges::min_element(wall);
    row.median_ms = median(wall);
    row.upload_ms = median(up);
    row.kernel_ms = median(kernel);
    row.download_ms = median(down);
    row.stream_ms = options_.in_flight > 1 ? stream(settings) : row.median_ms;
    row.filter = settings.filter->name;
    row.settings = settings_text(settings, "", "=");
    row.backend = processor_.info().backend;
    row.device = processor_.info().device;
    row.width = format.width;
    row.height = format.height;
    return row;
  }

 private:
  struct Slot {
    FrameBuffer in, out;
    explicit Slot(const FrameFormat& f) : in(f), out(f) {}
  };

  static double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  void prepare(const FrameFormat& format) {
    if (format == format_) return;
    processor_.drain();
    slots_.clear();
    processor_.configure(format, options_.in_flight);
    for (int i = 0; i < options_.in_flight; ++i) {
      auto& slot = slots_.emplace_back(format);
      fill(slot.in.frame(), pool_);
    }
    format_ = format;
  }

  // The first frame pays for what is built once; and a GPU that was idle has to raise its clocks, which takes
  // it some tens of milliseconds of work.
  void warm_up(const FrameSettings& settings) {
    constexpr double gpu_ms = 150;
    const auto start = Clock::now();
    do one(settings);
    while (std::string_view(processor_.info().backend) == "cuda" && ms_since(start) < gpu_ms);
  }

  FrameReport one(const FrameSettings& settings) {
    const auto& slot = slots_.front();
    return processor_.wait(processor_.submit(slot.in.frame(), slot.out.frame(), settings));
  }

  // Milliseconds a frame when the processor is kept busy.
  double stream(const FrameSettings& settings) {
    const int frames = std::max(options_.runs, options_.in_flight) + options_.in_flight;
    const auto start = Clock::now();
    std::deque<std::uint64_t> flying;
    for (int i = 0; i < frames; ++i) {
      if (flying.size() >= slots_.size()) {
        processor_.wait(flying.front());
        flying.pop_front();
      }
      const auto& slot = slots_[static_cast<std::size_t>(i) % slots_.size()];
      flying.push_back(processor_.submit(slot.in.frame(), slot.out.frame(), settings));
    }
    for (; !flying.empty(); flying.pop_front()) processor_.wait(flying.front());
    return ms_since(start) / frames;
  }

  const Options& options_;
  Processor& processor_;
  ThreadPool pool_;
  FrameFormat format_{};
  std::deque<Slot> slots_;
};

// "nlm-patch-radius=1,2,4" for the filters that have it.
struct Sweep {
  const FilterInfo* filter;
  const ParamInfo* row;
  std::vector<double> values;
};

Sweep parse_sweep(const std::string& text) {
  const auto equals = text.find('=');
  for (const auto& f : all_filters())
    for (const auto& row : f.params) {
      if (text.substr(0, equals) != std::string(f.name) + "-" + row.name || equals == std::string::npos)
        continue;
      Sweep sweep{&f, &row, {}};
      for (std::size_t at = equals + 1; at <= text.size();) {
        const auto comma = std::min(text.find(',', at), text.size());
        sweep.values.push_back(parse_value(row, std::string_view(text).substr(at, comma - at)));
        at = comma + 1;
      }
      return sweep;
    }
  throw UsageError(
      fmt::format("{} names no parameter with values; write it as nlm-patch-radius=1,2,4", text));
}

// All settings of one filter: each sweep multiplies them.
std::vector<FrameSettings> settings_of(const FilterInfo& filter, const std::vector<Sweep>& sweeps) {
  std::vector<FrameSettings> all = {default_settings(filter)};
  for (const auto& sweep : sweeps) {
    if (sweep.filter != &filter) continue;
    std::vector<FrameSettings> more;
    for (const auto& s : all)
      for (const double v : sweep.values) {
        more.push_back(s);
        sweep.row->set(more.back().params.data(), v);
      }
    all = std::move(more);
  }
  return all;
}

std::vector<BackendRequest> backends_of(const Options& o) {
  std::vector<BackendRequest> all;
  for (const auto& name : o.backends) {
    if (name == "cpu") all.push_back({BackendChoice::cpu, -1, o.threads});
    if (name == "cuda") all.push_back({BackendChoice::cuda, o.device, 0});
  }
  if (!o.backends.empty()) return all;
  if (!cuda::probe().devices.empty()) all.push_back({BackendChoice::cuda, o.device, 0});
  all.push_back({BackendChoice::cpu, -1, o.threads});
  return all;
}

void print_header() {
  fmt::print("{:<10} {:>11} {:<5} {:>10} {:>10} {:>10} {:>9}   {}\n", "filter", "size", "on", "best ms",
             "median ms", "stream ms", "Mpix/s", "up / kernel / down ms; settings");
}

void print_row(const Row& r) {
  fmt::print("{:<10} {:>11} {:<5} {:>10.3f} {:>10.3f} {:>10.3f} {:>9.1f}   {:.3f} / {:.3f} / {:.3f}; {}\n",
             r.filter, fmt::format("{}x{}", r.width, r.height), r.backend, r.best_ms, r.median_ms,
             r.stream_ms, r.width / 1000.0 * r.height / r.best_ms / 1000, r.upload_ms, r.kernel_ms,
             r.download_ms, r.settings);
  std::fflush(stdout);
}

std::string json_of(const std::vector<Row>& rows, const Options& o) {
  std::string text =
      fmt::format("{{\"version\": \"{}\", \"format\": \"{}\", \"runs\": {}, \"in_flight\": {}, \"rows\": [",
                  QF_VERSION, o.format, o.runs, o.in_flight);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& r = rows[i];
    text += fmt::format(
        "{}\n  {{\"filter\": \"{}\", \"settings\": \"{}\", \"backend\": \"{}\", \"device\": \"{}\", "
        "\"width\": {}, "
        "\"height\": {}, \"best_ms\": {:.6f}, \"median_ms\": {:.6f}, \"stream_ms\": {:.6f}, \"upload_ms\": "
        "{:.6f}, "
        "\"kernel_ms\": {:.6f}, \"download_ms\": {:.6f}}}",
        i ? "," : "", r.filter, r.settings, r.backend, r.device, r.width, r.height, r.best_ms, r.median_ms,
        r.stream_ms, r.upload_ms, r.kernel_ms, r.download_ms);
  }
  return text + "\n]}\n";
}

std::string csv_of(const std::vector<Row>& rows) {
  std::string text =
      "filter,settings,backend,device,width,height,best_ms,median_ms,stream_ms,upload_ms,kernel_ms,download_"
      "ms\n";
  for (const auto& r : rows)
    text += fmt::format("{},{},{},\"{}\",{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n", r.filter,
                        r.settings, r.backend, r.device, r.width, r.height, r.best_ms, r.median_ms,
                        r.stream_ms, r.upload_ms, r.kernel_ms, r.download_ms);
  return text;
}

void write_text(const std::string& path, const std::string& text) {
  with_name(path, [&] { write_file(path, std::as_bytes(std::span(text))); });
}

// The plot is matplotlib's work: a script beside the program, or where it is installed.
void plot(const Options& o) {
  std::error_code error;
  const auto here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path places[] = {here / "plot_bench.py", here / ".." / "share" / "quietframe" / "plot_bench.py",
                             QF_SOURCE_DIR "/plot_bench.py"};
  for (const auto& script : places) {
    if (!fs::exists(script)) continue;
    const auto quoted = [](const std::string& s) {
      std::string q = "'";
      for (const char c : s) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
      return q + "'";
    };
    const auto command =
        fmt::format("python3 {} {} {}", quoted(script.string()), quoted(o.json), quoted(o.plot));
    if (std::system(command.c_str()) != 0)
      throw FileError(o.plot +
                      " was not made: plot_bench.py needs python3 with matplotlib; the numbers are in " +
                      o.json);
    return;
  }
  throw FileError("plot_bench.py was not found beside quietframe; the numbers are in " + o.json);
}

ExitCode bench(const Options& o) {
  if (!o.plot.empty() && o.json.empty())
    throw UsageError("--plot needs --json FILE, from which the plot is drawn");
  const auto* info = find_format(o.format);
  if (!info) throw UsageError(o.format + " is no format; see quietframe denoise --raw 1x1:?");
  std::vector<Sweep> sweeps;
  for (const auto& s : o.sweeps) sweeps.push_back(parse_sweep(s));
  std::vector<const FilterInfo*> filters;
  for (const auto& name : o.filters) {
    filters.push_back(filter_by_name(name));
    if (!filters.back()) throw UsageError("none does nothing that could be timed; name a filter");
  }
  if (filters.empty())
    for (const auto& f : all_filters()) filters.push_back(&f);
  std::vector<Row> rows;
  for (const auto& request : backends_of(o)) {
    const auto backend = select_backend(request);
    fmt::print("{}; {}; best and median of {} runs, stream with {} in flight\n", backend.reason, o.format,
               o.runs, o.in_flight);
    print_header();
    Bench measuring(o, *backend.processor);
    for (const auto& size : o.sizes)
      for (const auto* filter : filters)
        for (const auto& settings : settings_of(*filter, sweeps)) {
          const auto s = parse_size(size);
          rows.push_back(measuring.measure(settings, {info->format, s.width, s.height, 0}));
          print_row(rows.back());
        }
  }
  if (!o.json.empty()) write_text(o.json, json_of(rows, o));
  if (!o.csv.empty()) write_text(o.csv, csv_of(rows));
  if (!o.plot.empty()) plot(o);
  return ExitCode::ok;
}

}  // namespace

Run make_bench(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("-f,--filter", o->filters, "Filters to time; all, if not given")
      ->type_name("NAME,...")
      ->delimiter(',');
  app.add_option("--size", o->sizes, "Frame sizes")
      ->type_name("WxH,...")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--format", o->format, "Frame format, by GStreamer's name")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--sweep", o->sweeps,
                 "Values of a parameter to time, as nlm-patch-radius=1,2,4; may be given again for another")
      ->type_name("NAME=V,...")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1);
  app.add_option("--backend", o->backends, "Backends to time; all that can be used, if not given")
      ->type_name("cuda,cpu")
      ->delimiter(',')
      ->check(CLI::IsMember({"cuda", "cpu"}));
  app.add_option("--runs", o->runs, "Timed frames")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--in-flight", o->in_flight, "Frames in the backend at a time, for the stream column")
      ->type_name("1..16")
      ->capture_default_str()
      ->check(CLI::Range(1, 16));
  app.add_option("--threads", o->threads, "Threads of the CPU backend; 0 is one for each CPU")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_option("--device", o->device, "CUDA device; -1 is the first")
      ->type_name("N")
      ->check(CLI::Range(-1, 1023));
  app.add_option("--json", o->json, "Write the numbers as JSON")->type_name("FILE");
  app.add_option("--csv", o->csv, "Write the numbers as CSV")->type_name("FILE");
  app.add_option("--plot", o->plot, "Draw them with matplotlib, from --json")->type_name("FILE");
  return [o] { return bench(*o); };
}

}  // namespace quietframe::cli
