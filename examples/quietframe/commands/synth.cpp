// quietframe synth: writes phantoms, one picture or a sequence, clean and noisy.
#include <fmt/format.h>

#include "clip.hpp"
#include "command.hpp"
#include "files.hpp"
#include "options.hpp"
#include "phantom/phantom.hpp"
#include "thread_pool.hpp"

namespace quietframe::cli {
namespace {

struct Options {
  std::string output, clean, size = "512x512", depth = "8";
  PhantomParams params;
  std::uint64_t seed = 1;
  int frames = 1, first = 0, threads = 0;
};

// One of the two versions of a sequence, as a clip or as pictures.
class Sink {
 public:
  Sink(fs::path path, const Options& o, int channels)
      : path_(std::move(path)),
        size_(parse_size(o.size)),
        frames_(o.frames),
        planes_(size_.width, size_.height, channels),
        picture_(blank_picture(size_.width, size_.height, channels,
                               o.depth == "float" ? 0
                               : o.depth == "16"  ? 65535
                                                  : 255)) {
    if (!is_clip(path_)) {
      check_can_write(path_);
      return;
    }
    const auto format = work_format(picture_);
    ClipInfo info;
    info.format = {format.format, size_.width, size_.height,
                   format.format == PixelFormat::gray16_le ? 16 : 0};
    writer_ = create_clip(path_, info, false);
    buffer_.emplace(info.format);
  }

  const PlanarGroup* planes() const { return &planes_.group; }

  void put(int t) {
    from_levels(planes_.group, picture_);
    if (writer_) {
      picture_to_frame(picture_, buffer_->frame());
      writer_->write(buffer_->frame());
      return;
    }
    auto path = path_;
    if (frames_ > 1)
      path.replace_filename(fmt::format("{}_{:04}{}", path_.stem().string(), t, path_.extension().string()));
    named_write(path, picture_);
  }

  void finish() {
    if (writer_) writer_->finish();
  }

 private:
  fs::path path_;
  Size size_;
  int frames_;
  Planes planes_;
  Picture picture_;
  std::unique_ptr<ClipWriter> writer_;
  std::optional<FrameBuffer> buffer_;
};

ExitCode synthesize(const Options& o) {
  if (o.output.empty() && o.clean.empty())
    throw UsageError("nothing to write: give --output, --clean or both");
  const auto size = parse_size(o.size);
  const auto phantom = make_phantom(o.params, size.width, size.height, o.seed);
  ThreadPool pool(o.threads);
  std::optional<Sink> noisy, clean;
  if (!o.output.empty()) noisy.emplace(o.output, o, phantom->channels());
  if (!o.clean.empty()) clean.emplace(o.clean, o, phantom->channels());
  for (int t = o.first; t < o.first + o.frames; ++t) {
    phantom->render(t, clean ? clean->planes() : nullptr, noisy ? noisy->planes() : nullptr, pool);
    if (clean) clean->put(t);
    if (noisy) noisy->put(t);
  }
  if (clean) clean->finish();
  if (noisy) noisy->finish();
  return ExitCode::ok;
}

}  // namespace

Run make_synth(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  app.add_option("-o,--output", o->output,
                 "Noisy picture or clip; sequences of pictures are numbered NAME_0000, ...")
      ->type_name("FILE");
  app.add_option("--clean", o->clean, "The same without noise")->type_name("FILE");
  add_params(app, phantom_params, &o->params, "", "Scene");
  app.add_option("--size", o->size, "Width and height")->type_name("WxH")->capture_default_str();
  app.add_option("--seed", o->seed, "Which noise of all")->type_name("N")->capture_default_str();
  app.add_option("--frames", o->frames, "Frames of the sequence, 30 a second")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--first", o->first, "Number of the first frame")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  app.add_option("--depth", o->depth, "Samples of 8 or 16 bits, or float")
      ->type_name("8|16|float")
      ->capture_default_str()
      ->check(CLI::IsMember({"8", "16", "float"}));
  app.add_option("--threads", o->threads, "Threads; 0 is one for each CPU. The result is the same")
      ->check(CLI::Range(0, 1024));
  return [o] { return synthesize(*o); };
}

}  // namespace quietframe::cli
