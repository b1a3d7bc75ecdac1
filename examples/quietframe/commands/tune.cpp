// quietframe tune: searches a filter's parameters for the best PSNR of one noisy picture against its clean
// version.
#include <fmt/format.h>

#include <cmath>

#include "command.hpp"
#include "pipeline.hpp"
#include "quality.hpp"

namespace quietframe::cli {
namespace {

struct Options {
  std::string input, reference, output;
  FilterOptions filter;
  BackendOptions backend;
  int rounds = 3;
  bool all = false;
};

// Coordinate descent: each parameter in turn takes the best of its neighbours, which draw nearer round by
// round.
class Search {
 public:
  Search(const Options& o, Processor& processor)
      : noisy_(named_read(o.input)),
        clean_(named_read(o.reference)),
        processor_(processor),
        best_(o.filter.settings()),
        choices_too_(o.all),
        name_(o.input) {
    if (!best_.filter) throw UsageError("there is nothing to tune without a filter: give --filter NAME");
    best_psnr_ = psnr_of(best_);
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round)
      for (const auto& row : best_.filter->params) improve(row, round);
  }

  const FrameSettings& best() const { return best_; }
  int runs() const { return runs_; }
  Picture picture() { return filter_picture(noisy_, processor_, best_); }
  Quality quality() { return compare_pictures(clean_, picture(), pool_); }
  Quality before() { return compare_pictures(clean_, noisy_, pool_); }

 private:
  double psnr_of(const FrameSettings& s) {
    ++runs_;
    double psnr = 0;
    with_name(name_,
              [&] { psnr = compare_pictures(clean_, filter_picture(noisy_, processor_, s), pool_).psnr; });
    return psnr;
  }

  // Values to try beside `now`: for numbers a step each way, 0 (the automatic value of many) first.
  std::vector<double> neighbours(const ParamInfo& row, double now, int round) const {
    std::vector<double> values;
    if (row.type == ParamType::Enum || row.type == ParamType::Bool) {
      if (choices_too_ && round == 0)
        for (double v = row.minimum; v <= row.maximum; ++v) values.push_back(v);
    } else if (row.type == ParamType::Int) {
      values = {now - 1, now + 1};
    } else {
      const double ratio = 1 + 0.5 / (1 << (2 * round));
      const double from = now != 0 ? now : first_guess(row);
      for (const double f : {1 / (ratio * ratio), 1 / ratio, 1.0, ratio, ratio * ratio})
        values.push_back(from * f);
    }
    std::erase_if(values, [&](double v) { return v < row.minimum || v > row.maximum || v == now; });
    for (auto& v : values)
      if (row.type == ParamType::Float) v = std::stod(fmt::format("{:.3g}", v));
    return values;
  }

  static double first_guess(const ParamInfo& row) {
    return std::min(row.maximum, std::max(row.minimum, 20.0));
  }

  void improve(const ParamInfo& row, int round) {
    for (bool again = true; again;) {
      again = false;
      const auto from = best_;
      for (const double v : neighbours(row, row.get(from.params.data()), round)) {
        auto s = from;
        row.set(s.params.data(), v);
        const double psnr = psnr_of(s);
        if (psnr <= best_psnr_ + 1e-4) continue;
        best_psnr_ = psnr;
        best_ = s;
        again = row.type != ParamType::Enum && row.type != ParamType::Bool;
      }
    }
  }

  Picture noisy_, clean_;
  Processor& processor_;
  FrameSettings best_;
  bool choices_too_;
  std::string name_;
  double best_psnr_ = 0;
  int runs_ = 0;
  ThreadPool pool_{0};
};

ExitCode tune(const Options& o) {
  if (!o.output.empty()) check_can_write(o.output);
  const auto backend = select_backend(o.backend.request());
  Search search(o, *backend.processor);
  search.run(o.rounds);
  fmt::print("{}, {} (was {}), after {} runs\n", search.best().filter->name, to_text(search.quality()),
             to_text(search.before()), search.runs());
  fmt::print("quietframe denoise {} {}\n", o.input, settings_text(search.best(), "--", " "));
  fmt::print("videodenoise {}\n", settings_text(search.best(), "", "="));
  if (!o.output.empty()) named_write(o.output, search.picture());
  return ExitCode::ok;
}

}  // namespace

Run make_tune(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("input,-i,--input", o->input, "Noisy picture")->type_name("FILE")->required();
  app.add_option("-r,--reference", o->reference, "Its clean version")->type_name("FILE")->required();
  app.add_option("-o,--output", o->output, "Write the best result")->type_name("FILE");
  o->filter.add_to(app);
  o->backend.add_to(app);
  app.add_option("--rounds", o->rounds, "Rounds of the search, each with finer steps")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 10));
  app.add_flag("--choices", o->all, "Try the values of choices too, such as wavelets");
  return [o] { return tune(*o); };
}

}  // namespace quietframe::cli
