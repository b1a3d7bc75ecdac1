// Each filter, its definition and what the CPU backend runs, against independent programs:
// tests/golden/filters_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "filters/median/params.hpp"
#include "support/settings_text.hpp"
#include "thread_pool.hpp"

namespace quietframe {
namespace {

struct Planes {
  Scratch storage;
  PlanarGroup group;

  Planes(int channels, int width, int height) {
    group.channels = channels;
    for (int c = 0; c < channels; ++c)
      group.channel[c] = storage.plane(static_cast<std::size_t>(c), width, height);
  }
};

// The script's level().
float level(int pattern, std::uint32_t seed, std::uint32_t channel, std::uint32_t x, std::uint32_t y) {
  std::uint32_t h = (y * 4099 + x + seed * 65537 + channel * 7919) * 2654435761U;
  h ^= h >> 15;
  h *= 2246822519U;
  h ^= h >> 13;
  std::uint32_t v;
  if (pattern == 0)
    v = 60 + 80 * ((x / 5 + y / 3) % 2) + x + channel * 20 + (h >> 27);
  else if (pattern == 1)
    v = 255 * (h & 1);
  else
    v = h % 5 == 0 ? 255 * ((h >> 8) & 1) : (x * 3 + y * 5) % 256;
  return static_cast<float>(std::min(v, 255U));
}

void fill(const PlanarGroup& g, int pattern, int seed) {
  for (int c = 0; c < g.channels; ++c)
    for (int y = 0; y < g.height(); ++y)
      for (int x = 0; x < g.width(); ++x)
        g.channel[c].row(y)[x] =
            level(pattern, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(c),
                  static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
}

struct Case {
  std::string text;
  int width, height, channels, past, pattern, seed;
  std::vector<float> wanted;
};

std::vector<Case> read_cases() {
  std::ifstream file(QF_GOLDEN_DIR "/filters.bin", std::ios::binary);
  std::vector<Case> cases;
  auto number = [&] {
    std::int32_t v = 0;
    file.read(reinterpret_cast<char*>(&v), sizeof v);
    return v;
  };
  for (std::int32_t length = number(); file; length = number()) {
    Case c;
    c.text.resize(static_cast<std::size_t>(length));
    file.read(c.text.data(), length);
    for (int* field : {&c.width, &c.height, &c.channels, &c.past, &c.pattern, &c.seed}) *field = number();
    const int sample = number();
    c.wanted.resize(static_cast<std::size_t>(c.width) * static_cast<std::size_t>(c.height) *
                    static_cast<std::size_t>(c.channels));
    for (auto& v : c.wanted)
      if (sample == 4)
        file.read(reinterpret_cast<char*>(&v), 4);
      else
        v = static_cast<float>(file.get());
    if (!file) throw std::runtime_error("filters.bin ends within a case");
    cases.push_back(std::move(c));
  }
  return cases;
}

void run_named(CpuJob& job, const Case& c, bool definition) {
  const auto space = c.text.find(' ');
  const auto s = test::settings_from(c.text.substr(0, space), c.text.substr(space + 1));
  (definition ? s.filter->run_definition : s.filter->run_cpu)(job, s.params.data());
}

void run_median(CpuJob& job, const Case& c, bool definition) {
  std::istringstream text(c.text);
  std::string name;
  median::Window w{};
  text >> name >> w.width >> w.height >> w.rank;
  (definition ? median::run_window_cpu : median::run_window_simd)(job, w);
}

double worst_difference(const Case& c, bool definition) {
  ThreadPool pool(2);
  Scratch scratch;
  Planes in(c.channels, c.width, c.height), out(c.channels, c.width, c.height);
  fill(in.group, c.pattern, c.seed);
  std::vector<std::unique_ptr<Planes>> past;
  std::vector<PlanarGroup> past_groups;
  for (int i = 0; i < c.past; ++i) {
    past.push_back(std::make_unique<Planes>(c.channels, c.width, c.height));
    fill(past.back()->group, c.pattern, c.seed + 1 + i);
    past_groups.push_back(past.back()->group);
  }
  CpuJob job{in.group, out.group, past_groups, {}, pool, scratch};
  (c.text.starts_with("median") ? run_median : run_named)(job, c, definition);
  double worst = 0;
  std::size_t i = 0;
  for (int ch = 0; ch < c.channels; ++ch)
    for (int y = 0; y < c.height; ++y)
      for (int x = 0; x < c.width; ++x) {
        const double d = std::abs(static_cast<double>(out.group.channel[ch].row(y)[x]) -
                                  static_cast<double>(c.wanted[i++]));
        if (!(d <= worst)) worst = d;
      }
  return worst;
}

void check(const std::string& filter, double tolerance, std::size_t at_least) {
  std::size_t found = 0;
  for (const auto& c : read_cases()) {
    if (!c.text.starts_with(filter)) continue;
    ++found;
    EXPECT_LE(worst_difference(c, true), tolerance) << c.text << ", definition";
    EXPECT_LE(worst_difference(c, false), tolerance) << c.text << ", CPU backend";
  }
  EXPECT_GE(found, at_least);
}

TEST(Golden, GaussianIsScipys) { check("gaussian", 1e-4, 5); }
TEST(Golden, MedianIsScipys) { check("median", 0, 52); }
TEST(Golden, BilateralIsTheBruteForceProgram) { check("bilateral", 1e-4, 8); }
TEST(Golden, NlmIsTheBruteForceProgram) { check("nlm", 2e-4, 10); }

}  // namespace
}  // namespace quietframe
