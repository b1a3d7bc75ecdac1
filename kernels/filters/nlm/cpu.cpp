// The definition of non-local means, and its box form: the same distances as running sums over a
// displacement.
#include <algorithm>

#include "params.hpp"
#include "thread_pool.hpp"

namespace quietframe::nlm {
namespace {

constexpr int band_rows = 16;

// A frame continued by replication, so that no loop below has a border: channel c's sample (x, y) is at
// channel[c].row(y + margin)[x + margin].
PlanarGroup extend(const PlanarGroup& in, int margin, std::size_t first_buffer, CpuJob& job) {
  PlanarGroup out{in.channels, {}};
  const int w = in.width(), h = in.height();
  for (int c = 0; c < in.channels; ++c) {
    const auto from = in.channel[c];
    const auto to =
        job.scratch.plane(first_buffer + static_cast<std::size_t>(c), w + 2 * margin, h + 2 * margin);
    job.pool.parallel_for(to.height, 64, [&](int begin, int end, int) {
      for (int y = begin; y < end; ++y) {
        const float* row = from.row(std::clamp(y - margin, 0, h - 1));
        for (int x = 0; x < to.width; ++x) to.row(y)[x] = row[std::clamp(x - margin, 0, w - 1)];
      }
    });
    out.channel[c] = to;
  }
  return out;
}

// One displacement of one band of rows: `there` is the frame that is searched, `here` the current one.
struct Pairing {
  const PlanarGroup& here;
  const PlanarGroup& there;
  int margin, patch, dx, dy;

  const float* a(int c, int y) const { return here.channel[c].row(y + margin) + margin; }
  const float* b(int c, int y) const { return there.channel[c].row(y + dy + margin) + margin + dx; }
};

// Sums of squared differences of the patches round row y's pixels, sample by sample.
void direct_distances(const Pairing& pair, int y, int width, float* ssd) {
  const int p = pair.patch;
  std::fill(ssd, ssd + width, 0.f);
  for (int c = 0; c < pair.here.channels; ++c)
    for (int j = -p; j <= p; ++j) {
      const float *a = pair.a(c, y + j), *b = pair.b(c, y + j);
      for (int i = -p; i <= p; ++i)
        for (int x = 0; x < width; ++x) {  // vectorised
          const float d = a[x + i] - b[x + i];
          ssd[x] += d * d;
        }
    }
}

// Adds (sign 1) or takes away (sign -1) row y's squared differences, columns -patch to width + patch.
void add_row(const Pairing& pair, int y, int width, double sign, double* columns) {
  for (int c = 0; c < pair.here.channels; ++c) {
    const float *a = pair.a(c, y), *b = pair.b(c, y);
    for (int x = -pair.patch; x < width + pair.patch; ++x) {  // vectorised
      const double d = static_cast<double>(a[x]) - static_cast<double>(b[x]);
      columns[x + pair.patch] += sign * d * d;
    }
  }
}

// The same sums from running column sums. They are kept in double precision, where adding and taking away a
// row leaves no trace that a float could show, whatever was in the row.
void box_distances(const Pairing& pair, int width, const double* columns, float* ssd) {
  double sum = 0;
  for (int i = 0; i < 2 * pair.patch; ++i) sum += columns[i];
  for (int x = 0; x < width; ++x) {
    sum += columns[x + 2 * pair.patch];
    ssd[x] = static_cast<float>(std::max(sum, 0.0));
    sum -= columns[x];
  }
}

struct Weighting {
  float per_sample;  ///< 1 / (samples of a patch)
  float subtracted;  ///< 2 sigma^2
  float per_h2;      ///< 1 / h^2
};

// Running totals of a band, in rows of the image's width.
struct Totals {
  float* ssd;
  double* columns;
  float *weight, *largest;
  std::array<float*, max_channels> sum{};
};

// Differences from the pixel itself are summed, so that a constant comes back exactly.
void accumulate(const Pairing& pair, int y, int width, const Weighting& k, const Totals& t, std::size_t at) {
  float *weight = t.weight + at, *largest = t.largest + at;
  float* w = t.ssd;
  for (int x = 0; x < width; ++x)
    w[x] = std::exp(-std::max(w[x] * k.per_sample - k.subtracted, 0.f) * k.per_h2);
  for (int x = 0; x < width; ++x) {  // vectorised
    weight[x] += w[x];
    largest[x] = std::max(largest[x], w[x]);
  }
  for (int c = 0; c < pair.here.channels; ++c) {
    const float *a = pair.a(c, y), *b = pair.b(c, y);
    float* sum = t.sum[c] + at;
    for (int x = 0; x < width; ++x)  // vectorised
      sum[x] += w[x] * (b[x] - a[x]);
  }
}

void add_displacement(const Pairing& pair, int begin, int end, int width, bool box, const Weighting& k,
                      const Totals& t) {
  if (box) {
    std::fill(t.columns, t.columns + width + 2 * pair.patch, 0.0);
    for (int y = begin - pair.patch; y < begin + pair.patch; ++y) add_row(pair, y, width, 1, t.columns);
  }
  for (int y = begin; y < end; ++y) {
    if (box) {
      add_row(pair, y + pair.patch, width, 1, t.columns);
      box_distances(pair, width, t.columns, t.ssd);
      add_row(pair, y - pair.patch, width, -1, t.columns);
    } else {
      direct_distances(pair, y, width, t.ssd);
    }
    accumulate(pair, y, width, k, t, static_cast<std::size_t>(y - begin) * static_cast<std::size_t>(width));
  }
}

Totals totals_of_lane(float* floats, std::size_t lane_floats, double* columns, int width, int patch,
                      int lane) {
  const auto w = static_cast<std::size_t>(width);
  Totals t{};
  t.ssd = floats + lane_floats * static_cast<std::size_t>(lane);
  t.weight = t.ssd + w;
  t.largest = t.weight + w * band_rows;
  for (int c = 0; c < max_channels; ++c)
    t.sum[c] = t.largest + w * band_rows * static_cast<std::size_t>(c + 1);
  t.columns = columns + static_cast<std::size_t>(lane) * (w + 2 * static_cast<std::size_t>(patch));
  return t;
}

void store(const CpuJob& job, int begin, int end, CentreWeight centre, const Totals& t) {
  const auto width = static_cast<std::size_t>(job.in.width());
  for (int c = 0; c < job.in.channels; ++c)
    for (int y = begin; y < end; ++y) {
      const std::size_t at = static_cast<std::size_t>(y - begin) * width;
      const float* in = job.in.channel[c].row(y);
      float* out = job.out.channel[c].row(y);
      for (std::size_t x = 0; x < width; ++x) {
        const float own = centre == CentreWeight::one ? 1.f : std::max(t.largest[at + x], min_centre_weight);
        out[x] = in[x] + t.sum[c][at + x] / (t.weight[at + x] + own);
      }
    }
}

}  // namespace

void run_cpu(CpuJob& job, const Params& p) {
  const int width = job.in.width(), s = p.search_radius, patch = p.patch_radius, margin = s + patch;
  const int side = 2 * patch + 1;
  const float h = strength(p, joint_sigma(job.sigma.data(), job.in.channels));
  const Weighting k{1.f / static_cast<float>(side * side * job.in.channels), 2.f * p.sigma * p.sigma,
                    1.f / (h * h)};
  const bool box =
      p.implementation == Implementation::box || (p.implementation == Implementation::automatic && patch > 0);

  std::array<PlanarGroup, max_history + 1> frames;  // the current one, then the past, newest first
  int count = 1;
  frames[0] = extend(job.in, margin, 2, job);
  for (const auto& past : job.past) {
    if (count > p.temporal_radius) break;
    frames[count] = extend(past, margin, 2 + static_cast<std::size_t>(max_channels * count), job);
    ++count;
  }
  const auto w = static_cast<std::size_t>(width), lanes = static_cast<std::size_t>(job.pool.lanes());
  const std::size_t lane_floats = w + (2 + max_channels) * w * band_rows;
  float* floats = job.scratch.floats(0, lane_floats * lanes);
  auto* columns = job.scratch.items<double>(1, (w + 2 * static_cast<std::size_t>(patch)) * lanes);

  job.pool.parallel_for(job.in.height(), band_rows, [&](int begin, int end, int lane) {
    const auto totals = totals_of_lane(floats, lane_floats, columns, width, patch, lane);
    std::fill(totals.weight, totals.ssd + lane_floats, 0.f);
    for (int f = 0; f < count; ++f)
      for (int dy = -s; dy <= s; ++dy)
        for (int dx = -s; dx <= s; ++dx)
          if (f > 0 || dx != 0 || dy != 0)
            add_displacement({frames[0], frames[f], margin, patch, dx, dy}, begin, end, width, box, k,
                             totals);
    store(job, begin, end, p.centre_weight, totals);
  });
}

}  // namespace quietframe::nlm
