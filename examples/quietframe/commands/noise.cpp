// quietframe noise: adds seeded noise and movement to a picture or a clip.
#include <fmt/format.h>

#include "clip.hpp"
#include "command.hpp"
#include "files.hpp"
#include "noise/models.hpp"
#include "options.hpp"
#include "thread_pool.hpp"

namespace quietframe::cli {
namespace {

struct Options {
  InputOutput files;
  NoiseParams noise;
  DepthOption depth;
  RawOption raw;
  std::uint64_t seed = 1;
  double max_shift = 0, max_degrees = 0;
  int threads = 0;
};

// One group of planes in levels, in place.
void degrade(const Options& o, const PlanarGroup& planes, std::uint32_t frame, std::uint32_t first_channel,
             int subsampling, ThreadPool& pool) {
  const auto motion = random_motion(o.max_shift, o.max_degrees, o.seed, frame);
  Scratch scratch;
  for (int c = 0; c < planes.channels; ++c) {
    const auto plane = planes.channel[static_cast<std::size_t>(c)];
    if (o.max_shift > 0 || o.max_degrees > 0) {
      const auto moved = scratch.plane(0, plane.width, plane.height);
      const double scale = 1.0 / (1 << subsampling);
      move_rigidly(as_const(plane), moved, {motion.shift_x * scale, motion.shift_y * scale, motion.degrees},
                   pool);
      for (int y = 0; y < plane.height; ++y) std::copy_n(moved.row(y), plane.width, plane.row(y));
    }
    add_noise(as_const(plane), plane, o.noise, {o.seed, frame, first_channel + static_cast<std::uint32_t>(c)},
              pool);
  }
}

void add_to_picture(const Options& o, ThreadPool& pool) {
  const auto output = o.files.output_or("_noisy");
  check_can_write(output);
  auto picture = o.depth.apply(named_read(o.files.input));
  const auto planes = to_planes(picture, Unit::levels);
  degrade(o, planes.group, 0, 0, 0, pool);
  from_levels(planes.group, picture);
  named_write(output, picture);
}

void add_to_clip(const Options& o, ThreadPool& pool) {
  const fs::path output = o.files.output_or("_noisy");
  const auto reader = open_clip(o.files.input, o.raw.format());
  const auto writer = create_clip(output, reader->info(), o.raw.format().has_value());
  FrameBuffer buffer(reader->info().format);
  for (std::uint32_t t = 0; reader->read(buffer.frame()); ++t) {
    const int groups = format_info(buffer.frame().format.format).groups;
    std::uint32_t channel = 0;
    for (int g = 0; g < groups; ++g) {
      const auto view = group_view(buffer.frame(), g);
      const auto planes = group_to_planes(view);
      degrade(o, planes.group, t, channel,
              view.chroma ? format_info(buffer.frame().format.format).group[static_cast<std::size_t>(g)].sub_x
                          : 0,
              pool);
      planes_to_group(planes.group, view);
      channel += static_cast<std::uint32_t>(view.channels);
    }
    writer->write(buffer.frame());
  }
  writer->finish();
}

}  // namespace

Run make_noise(CLI::App& app) {
  const auto o = std::make_shared<Options>();
  o->files.add_to(app, "Picture or clip", "Where to write; NAME_noisy beside the input, if not given");
  add_params(app, noise_params, &o->noise, "", "Noise");
  app.add_option("--seed", o->seed, "Which noise of all")
      ->type_name("N")
      ->group("Noise")
      ->capture_default_str();
  app.add_option("--shift", o->max_shift,
                 "Move the picture by up to so many pixels each way, before the noise")
      ->type_name("0..1000 px")
      ->group("Movement")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1000.0));
  app.add_option("--rotate", o->max_degrees,
                 "Turn the picture by up to so many degrees each way, before the noise")
      ->type_name("0..180 degrees")
      ->group("Movement")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 180.0));
  app.add_option("--threads", o->threads, "Threads; 0 is one for each CPU. The result is the same")
      ->check(CLI::Range(0, 1024));
  o->depth.add_to(app);
  o->raw.add_to(app);
  return [o] {
    ThreadPool pool(o->threads);
    if (is_clip(o->files.input) || o->raw.format())
      add_to_clip(*o, pool);
    else
      add_to_picture(*o, pool);
    return ExitCode::ok;
  };
}

}  // namespace quietframe::cli
