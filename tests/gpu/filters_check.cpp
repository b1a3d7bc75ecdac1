// gaussian, bilateral and nlm on the GPU against their definitions: hostile sizes, every format, the ends of
// every parameter, both implementations of nlm, and three runs bit for bit. Without a GPU it exits with 77,
// which Meson reports as skipped.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "cuda/device.hpp"
#include "device_frame.hpp"
#include "support/fill.hpp"
#include "support/settings_text.hpp"
#include "thread_pool.hpp"

namespace quietframe::test {
namespace {

struct Size {
  int width, height;
};
constexpr Size sizes[] = {{1, 1},   {1, 9},    {11, 1},  {3, 5},   {1, 67},  {53, 1},
                          {37, 29}, {131, 23}, {64, 48}, {261, 7}, {133, 70}};

struct Case {
  const char* filter;
  const char* settings;
};
// The first row of each filter is also run at every size, format and fill; the others on a few.
constexpr Case cases[] = {
    {"gaussian", ""},
    {"gaussian", "sigma=0.1"},
    {"gaussian", "sigma=2.7"},
    {"gaussian", "sigma=10"},
    {"bilateral", "noise-sigma=9"},
    {"bilateral", "sigma-space=0.1 sigma-range=255"},
    {"bilateral", "sigma-space=1 sigma-range=2"},
    {"bilateral", "sigma-space=10 sigma-range=25"},
    {"bilateral", "noise-sigma=1e-9"},
    {"nlm", "noise-sigma=9"},
    {"nlm", "noise-sigma=1e-9"},
    {"nlm", "h=6 patch-radius=0 search-radius=1"},
    {"nlm", "h=6 patch-radius=1 search-radius=3"},
    {"nlm", "h=14 patch-radius=1 search-radius=7 sigma=9"},
    {"nlm", "h=1 patch-radius=2 search-radius=5"},
    {"nlm", "h=255 patch-radius=2 search-radius=7"},
    {"nlm", "h=10 patch-radius=2 search-radius=10 centre-weight=max"},
    {"nlm", "h=3 patch-radius=3 search-radius=2 centre-weight=max sigma=2"},
    {"nlm", "h=3 patch-radius=1 search-radius=2 centre-weight=max sigma=2"},
    {"nlm", "h=1.5 patch-radius=2 search-radius=3 centre-weight=max sigma=2"},
    {"nlm", "h=3 patch-radius=6 search-radius=2 centre-weight=max sigma=2"},
    {"nlm", "h=10 patch-radius=3 search-radius=4"},
    {"nlm", "h=10 patch-radius=4 search-radius=6"},
    {"nlm", "h=10 patch-radius=5 search-radius=8"},
    {"nlm", "h=10 patch-radius=6 search-radius=16"},
    {"nlm", "h=10 patch-radius=1 search-radius=12"},
    {"nlm", "h=10 patch-radius=2 search-radius=3 temporal-radius=1"},
    {"nlm", "h=10 patch-radius=2 search-radius=7 temporal-radius=3"},
    {"nlm", "h=10 patch-radius=1 search-radius=5 temporal-radius=2 centre-weight=max sigma=5"},
};

int failures = 0, checks = 0;

void fail(const std::string& what) {
  ++failures;
  std::printf("FAILED %s\n", what.c_str());
}

std::string describe(const FrameSettings& s, const FrameFormat& f, Fill what) {
  std::ostringstream text;
  text << s.filter->name << ' ' << format_info(f.format).name;
  if (f.bit_depth) text << '/' << f.bit_depth;
  text << ' ' << f.width << 'x' << f.height << " fill " << static_cast<int>(what);
  for (const auto& row : s.filter->params) text << ' ' << row.name << '=' << row.get(s.params.data());
  text << " noise-sigma=" << s.common.noise_sigma << " strength=" << s.common.strength;
  return text.str();
}

using Frames = std::vector<std::unique_ptr<GuardedFrame>>;

Frames make_inputs(const FrameSettings& s, const FrameFormat& format, Fill what, int padding) {
  Frames in;
  const int count = s.filter->history(s.params.data()) + 1;
  for (int i = 0; i < count; ++i) {
    in.push_back(std::make_unique<GuardedFrame>(format, padding, std::byte{0xff}));
    fill(in.back()->frame(), what, 7U + static_cast<unsigned>(i));
  }
  return in;
}

/// The definition on plain float planes, the last input with the ones before it as its past.
class Definition {
 public:
  void run(const FrameSettings& s, const Frames& in, GuardedFrame& out) {
    for (int g = 0; g < format_info(out.frame().format.format).groups; ++g) {
      std::vector<PlanarGroup> levels;  // newest first
      for (std::size_t i = in.size(); i-- > 0;)
        levels.push_back(load(group_view(in[i]->frame(), g), levels.size()));
      const auto result = planes(group_view(out.frame(), g), in.size());
      CpuJob job{levels[0], result, std::span<const PlanarGroup>(levels).subspan(1), {}, pool_, scratch_};
      job.sigma.fill(s.common.noise_sigma);
      s.filter->run_definition(job, s.params.data());
      store(group_view(in.back()->frame(), g), levels[0], result, group_view(out.frame(), g),
            s.common.strength);
    }
  }

 private:
  PlanarGroup planes(const GroupView& v, std::size_t frame) {
    PlanarGroup p;
    p.channels = v.channels;
    for (int c = 0; c < v.channels; ++c)
      p.channel[c] = planes_.plane(max_channels * frame + static_cast<std::size_t>(c), v.width, v.height);
    return p;
  }
  PlanarGroup load(const GroupView& v, std::size_t frame) {
    const auto to = planes(v, frame);
    with_sample_type(v.type, [&]<SampleType S>() {
      for_each_sample(v, [&](int c, int x, int y, const std::byte* p) {
        to.channel[c].row(y)[x] = load_level<S>(p, v.shift, v.levels_per_code);
      });
    });
    return to;
  }
  static void store(const GroupView& before, const PlanarGroup& in, const PlanarGroup& filtered,
                    const GroupView& v, float strength) {
    with_sample_type(v.type, [&]<SampleType S>() {
      for_each_sample(v, [&](int c, int x, int y, std::byte* p) {
        store_level<S>(p, v.shift, 1.f / v.levels_per_code, v.max_code,
                       mix(in.channel[c].row(y)[x], filtered.channel[c].row(y)[x], strength));
      });
    });
    if (v.carry)
      for (int y = 0; y < v.height; ++y)
        for (int x = 0; x < v.width; ++x)
          v.carry[y * v.stride[0] + std::ptrdiff_t{x} * v.step] =
              before.carry[y * before.stride[0] + std::ptrdiff_t{x} * before.step];
  }

  ThreadPool pool_;
  Scratch planes_, scratch_;
};

/// The last input filtered on the GPU, the ones before it as its past.
void run_gpu(const FrameSettings& s, const Frames& in, GuardedFrame& out) {
  std::vector<std::unique_ptr<DeviceFrame>> device;
  for (const auto& f : in) device.push_back(std::make_unique<DeviceFrame>(*f));
  std::vector<Frame> past;
  for (std::size_t i = in.size() - 1; i-- > 0;) past.push_back(device[i]->frame());
  DeviceFrame result(out);
  enqueue(s, device.back()->frame(), past, result.frame(), nullptr);
  GPU(cudaDeviceSynchronize());
  result.download();
}

double off_by_one(const Frame& a, const Frame& b) {
  double different = 0, all = 0;
  for (int g = 0; g < format_info(a.format.format).groups; ++g) {
    const auto va = group_view(a, g), vb = group_view(b, g);
    for_each_sample(va, [&](int c, int x, int y, std::byte* p) {
      const std::size_t bytes = static_cast<std::size_t>(format_info(a.format.format).sample_bytes());
      different += std::memcmp(p, vb.channel[c] + y * vb.stride[c] + std::ptrdiff_t{x} * vb.step, bytes) != 0;
      ++all;
    });
  }
  return different / all;
}

bool same_carry(const Frame& a, const Frame& b) {
  const auto va = group_view(a, 0), vb = group_view(b, 0);
  if (!va.carry) return true;
  for (int y = 0; y < va.height; ++y)
    for (int x = 0; x < va.width; ++x)
      if (va.carry[y * va.stride[0] + x * va.step] != vb.carry[y * vb.stride[0] + x * vb.step]) return false;
  return true;
}

void check_one(Definition& definition, const FrameSettings& s, const FrameFormat& format, Fill what,
               int padding, bool thrice) {
  const auto in = make_inputs(s, format, what, padding);
  const int out_padding = padding == 0 ? 0 : padding + 8;
  GuardedFrame wanted(format, 0, std::byte{0}), got(format, out_padding, std::byte{0xa5});
  auto defined = s;
  if (std::strcmp(s.filter->name, "nlm") == 0) set_param(defined, "implementation", "box");  // in double
  definition.run(defined, in, wanted);
  run_gpu(s, in, got);
  ++checks;
  const auto text = describe(s, format, what);
  const auto d = largest_difference(wanted.frame(), got.frame());
  const bool is_float = format_info(format.format).type == SampleType::f32;
  if (is_float ? !(d.levels <= s.filter->tolerance) : !(d.codes <= 1.001))
    fail(text + ": differs by " + std::to_string(d.levels) + " levels (" + std::to_string(d.codes) +
         " codes) in group " + std::to_string(d.group) + " channel " + std::to_string(d.channel) + " at " +
         std::to_string(d.x) + "," + std::to_string(d.y));
  // Where rounding falls differently the level must be near a half: at 1e-3 levels that is rare at 8 bits.
  const double share = off_by_one(wanted.frame(), got.frame());
  if (what == Fill::scene && format_info(format.format).type == SampleType::u8 &&
      format.width * format.height > 1000 && share > 0.004)
    fail(text + ": " + std::to_string(100 * share) + " % of the samples differ");
  if (!got.guards_intact()) fail(text + ": wrote outside its rows");
  if (!same_carry(in.back()->frame(), got.frame())) fail(text + ": alpha or padding bytes changed");
  if (thrice)
    for (int i = 0; i < 2; ++i) {
      GuardedFrame again(format, out_padding, std::byte{0xa5});
      run_gpu(s, in, again);
      if (again.bytes() != got.bytes()) fail(text + ": differs from run to run");
    }
}

// Every sample's difference between nlm's two implementations, in levels.
void check_direct_against_box(const FrameSettings& settings, const FrameFormat& format) {
  GuardedFrame out[2] = {{format, 0, std::byte{0}}, {format, 0, std::byte{0}}};
  const auto in = make_inputs(settings, format, Fill::scene, 0);
  for (int i = 0; i < 2; ++i) {
    auto s = settings;
    set_param(s, "implementation", i == 0 ? "direct" : "box");
    run_gpu(s, in, out[i]);
  }
  const auto d = largest_difference(out[0].frame(), out[1].frame());
  ++checks;
  if (!(d.levels <= 1e-4))
    fail(describe(settings, format, Fill::scene) + ": direct and box differ by " + std::to_string(d.levels));
}

void check_case(Definition& definition, const Case& c, bool everything) {
  const auto settings = settings_from(c.filter, c.settings);
  std::vector<FrameSettings> variants = {settings};
  if (std::strcmp(c.filter, "nlm") == 0) {
    for (const char* implementation : {"direct", "box"}) {
      variants.push_back(settings);
      set_param(variants.back(), "implementation", implementation);
    }
    for (const auto f : {PixelFormat::gray_f32, PixelFormat::rgb_f32})
      check_direct_against_box(settings, {f, 133, 70, 0});
  }
  for (const auto& s : variants) {
    for (const auto& info : all_formats()) {
      check_one(definition, s, {info.format, 133, 70, 0}, Fill::scene, 12, true);
      if (!everything) continue;
      for (const auto& size : sizes)
        check_one(definition, s, {info.format, size.width, size.height, 0}, Fill::scene, size.width % 3,
                  false);
    }
    for (const Fill f : all_fills) {
      check_one(definition, s, {PixelFormat::gray8, 64, 48, 0}, f, 0, false);
      check_one(definition, s, {PixelFormat::gray16_le, 64, 48, 0}, f, 0, false);
      check_one(definition, s, {PixelFormat::gray_f32, 64, 48, 0}, f, 0, false);
      check_one(definition, s, {PixelFormat::rgb, 64, 48, 0}, f, 0, false);
    }
    check_one(definition, s, {PixelFormat::gray16_le, 64, 48, 12}, Fill::scene, 2, false);
    auto half = s;
    half.common.strength = 0.5f;
    for (const auto f : {PixelFormat::gray8, PixelFormat::p010_10le, PixelFormat::bgra, PixelFormat::rgb_f32})
      check_one(definition, half, {f, 37, 29, 0}, Fill::scene, 4, false);
  }
}

int run(const char* only) {
  if (cuda::probe().devices.empty()) {
    std::printf("skipped: %s\n", cuda::probe().why_none.c_str());
    return 77;
  }
  Definition definition;
  const char* before = "";
  for (const auto& c : cases) {
    const bool first = std::strcmp(before, c.filter) != 0;
    before = c.filter;
    if (only && std::strcmp(only, c.filter) != 0) continue;
    const int failed = failures, done = checks;
    check_case(definition, c, first);
    std::printf("%-9s %-70s %d checks, %d failures\n", c.filter, c.settings, checks - done,
                failures - failed);
    std::fflush(stdout);
  }
  return failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace quietframe::test

int main(int argc, char** argv) {
  try {
    return quietframe::test::run(argc > 1 ? argv[1] : nullptr);
  } catch (const std::exception& e) {
    std::printf("FAILED %s\n", e.what());
    return 1;
  }
}
