// One level of the 2D wavelet transform and of its inverse: rows are filtered as they enter a ring of lines,
// columns straight from the ring, so that a band of rows is touched once.
#include "filters/wavelet/transform.hpp"

#include <algorithm>

#include "noise/median.hpp"
#include "thread_pool.hpp"

namespace quietframe::wavelet {
namespace {

constexpr int band_rows =
    32;  ///< rows of coefficients a band; its neighbours repeat taps - 2 rows of samples

// Row lengths in the working memory: even and odd samples with a border of taps / 2 each side, rounded up so
// that vector loops may overrun.
std::size_t line_length(int width) {
  return (static_cast<std::size_t>(coefficients(width, max_taps)) + max_taps + 31) / 16 * 16;
}
constexpr std::size_t lines_a_lane = 2 + 4 * max_taps;

// lo[i] = sum_j dec_lo[j] x[2i + 1 - j] over even and odd samples, which are contiguous: both vectorise.
template <int Taps>
void filter_row(const Bank& bank, const float* even, const float* odd, float* __restrict lo,
                float* __restrict hi, int n) {
  for (int i = 0; i < n; ++i) {  // vectorised
    float l = 0, h = 0;
    for (int p = 0; p < Taps / 2; ++p) {
      l += bank.dec_lo[2 * p] * odd[i - p] + bank.dec_lo[2 * p + 1] * even[i - p];
      h += bank.dec_hi[2 * p] * odd[i - p] + bank.dec_hi[2 * p + 1] * even[i - p];
    }
    if (lo) lo[i] = l;
    hi[i] = h;
  }
}

// Samples 2i and 2i + 1 for i in -taps/2 .. n - 1 of the extended row.
template <int Taps>
void split_row(const float* in, int width, float* __restrict even, float* __restrict odd, int n) {
  const int inside = width / 2;
  for (int i = 0; i < inside; ++i) {  // vectorised
    even[i] = in[2 * i];
    odd[i] = in[2 * i + 1];
  }
  auto border = [&](int i) {
    even[i] = in[reflect(2 * i, width)];
    odd[i] = in[reflect(2 * i + 1, width)];
  };
  for (int i = -Taps / 2; i < 0; ++i) border(i);
  for (int i = inside; i < n; ++i) border(i);
}

template <int Taps>
void filter_column(const float* dec, const float* const* rows, float* __restrict out, int n) {
  for (int i = 0; i < n; ++i) {  // vectorised
    float sum = 0;
    for (int j = 0; j < Taps; ++j) sum += dec[j] * rows[j][i];
    out[i] = sum;
  }
}

template <int Taps>
class AnalysisBand {
 public:
  AnalysisBand(const Bank& bank, const ImageView<const float>& in, const Subbands& out, float* lines)
      : bank_(bank), in_(in), out_(out), length_(line_length(in.width)), n_(out.hh.width) {
    even_ = lines + max_taps;
    odd_ = even_ + length_;
    for (int s = 0; s < Taps; ++s) {
      lo_[s] = lines + (2 + 2 * static_cast<std::size_t>(s)) * length_;
      hi_[s] = lo_[s] + length_;
    }
  }

  void run(int begin, int end, int lane, AbsMedian* median) {
    for (int y = 2 * begin + 2 - Taps; y < 2 * begin; ++y) enter(y);
    for (int i = begin; i < end; ++i) {
      enter(2 * i);
      enter(2 * i + 1);
      const float *lo[Taps], *hi[Taps];
      for (int j = 0; j < Taps; ++j) {
        lo[j] = lo_[slot(2 * i + 1 - j)];
        hi[j] = hi_[slot(2 * i + 1 - j)];
      }
      filter_column<Taps>(bank_.dec_hi, hi, out_.hh.row(i), n_);
      if (median) median->count(out_.hh.row(i), n_, lane);
      if (!out_.ll.data) continue;
      filter_column<Taps>(bank_.dec_lo, lo, out_.ll.row(i), n_);
      filter_column<Taps>(bank_.dec_hi, lo, out_.lh.row(i), n_);
      filter_column<Taps>(bank_.dec_lo, hi, out_.hl.row(i), n_);
    }
  }

 private:
  static int slot(int y) { return (y + Taps * 2) % Taps; }

  void enter(int y) {
    split_row<Taps>(in_.row(reflect(y, in_.height)), in_.width, even_, odd_, n_);
    filter_row<Taps>(bank_, even_, odd_, out_.ll.data ? lo_[slot(y)] : nullptr, hi_[slot(y)], n_);
  }

  const Bank& bank_;
  const ImageView<const float>& in_;
  const Subbands& out_;
  std::size_t length_;
  int n_;
  float *even_, *odd_;
  float *lo_[Taps], *hi_[Taps];
};

template <Rule R>
void shrink_row(const float* in, float tau, float* __restrict out, int n) {
  for (int i = 0; i < n; ++i)  // vectorised
    out[i] = shrink<R>(in[i], tau);
}

void shrink_row(Rule rule, const float* in, float tau, float* out, int n) {
  switch (rule) {
    case Rule::soft:
      return shrink_row<Rule::soft>(in, tau, out, n);
    case Rule::hard:
      return shrink_row<Rule::hard>(in, tau, out, n);
    case Rule::garrote:
      return shrink_row<Rule::garrote>(in, tau, out, n);
  }
}

// out[i] = sum_j rec_lo[2j + odd] lo[j][i] + rec_hi[2j + odd] hi[j][i]
template <int Taps>
void merge_column(const Bank& bank, int odd, const float* const* lo, const float* const* hi,
                  float* __restrict out, int n) {
  for (int i = 0; i < n; ++i) {  // vectorised
    float sum = 0;
    for (int j = 0; j < Taps / 2; ++j)
      sum += bank.rec_lo[2 * j + odd] * lo[j][i] + bank.rec_hi[2 * j + odd] * hi[j][i];
    out[i] = sum;
  }
}

template <int Taps>
void merge_row(const Bank& bank, const float* lo, const float* hi, float* __restrict out, int width) {
  constexpr int half = Taps / 2;
  auto sample = [&](int m, int odd) {
    float sum = 0;
    for (int j = 0; j < half; ++j)
      sum +=
          bank.rec_lo[2 * j + odd] * lo[m + half - 1 - j] + bank.rec_hi[2 * j + odd] * hi[m + half - 1 - j];
    return sum;
  };
  for (int m = 0; m < width / 2; ++m) {  // vectorised
    out[2 * m] = sample(m, 0);
    out[2 * m + 1] = sample(m, 1);
  }
  if (width % 2 == 1) out[width - 1] = sample(width / 2, 0);
}

template <int Taps>
class SynthesisBand {
 public:
  SynthesisBand(const Bank& bank, const Subbands& in, const Thresholds& t, const ImageView<float>& out,
                float* lines)
      : bank_(bank), in_(in), t_(t), out_(out), n_(in.hh.width) {
    const std::size_t length = line_length(out.width);
    lo_ = lines;
    hi_ = lines + length;
    for (std::size_t s = 0; s < half; ++s) {
      lh_[s] = lines + (2 + 3 * s) * length;
      hl_[s] = lh_[s] + length;
      hh_[s] = hl_[s] + length;
    }
  }

  /// Samples 2 begin .. 2 end - 1 down.
  void run(int begin, int end) {
    for (int y = begin; y < begin + static_cast<int>(half) - 1; ++y) enter(y);
    for (int m = begin; m < end; ++m) {
      const int newest = m + static_cast<int>(half) - 1;
      enter(newest);
      const float *ll[half], *lh[half], *hl[half], *hh[half];
      for (int j = 0; j < static_cast<int>(half); ++j) {
        ll[j] = in_.ll.row(newest - j);
        lh[j] = lh_[slot(newest - j)];
        hl[j] = hl_[slot(newest - j)];
        hh[j] = hh_[slot(newest - j)];
      }
      for (int odd = 0; odd < 2 && 2 * m + odd < out_.height; ++odd) {
        merge_column<Taps>(bank_, odd, ll, lh, lo_, n_);
        merge_column<Taps>(bank_, odd, hl, hh, hi_, n_);
        merge_row<Taps>(bank_, lo_, hi_, out_.row(2 * m + odd), out_.width);
      }
    }
  }

 private:
  static constexpr std::size_t half = Taps / 2;
  static std::size_t slot(int y) { return static_cast<std::size_t>(y) % half; }

  // A coefficient row takes part in half output row pairs; its threshold is applied once, here.
  void enter(int y) {
    shrink_row(t_.rule, in_.lh.row(y), t_.lh, lh_[slot(y)], n_);
    shrink_row(t_.rule, in_.hl.row(y), t_.hl, hl_[slot(y)], n_);
    shrink_row(t_.rule, in_.hh.row(y), t_.hh, hh_[slot(y)], n_);
  }

  const Bank& bank_;
  const Subbands& in_;
  const Thresholds& t_;
  const ImageView<float>& out_;
  int n_;
  float *lo_, *hi_;
  float *lh_[half], *hl_[half], *hh_[half];
};

std::size_t lane_floats(int width) { return line_length(width) * lines_a_lane; }

}  // namespace

std::size_t line_floats(int width, const ThreadPool& pool) {
  return lane_floats(width) * static_cast<std::size_t>(pool.lanes());
}

void analyse(const Bank& bank, const ImageView<const float>& in, const Subbands& out, ThreadPool& pool,
             float* lines, AbsMedian* median) {
  with_taps(bank.taps, [&]<int Taps>() {
    pool.parallel_for(out.hh.height, band_rows, [&](int begin, int end, int lane) {
      AnalysisBand<Taps>(bank, in, out, lines + lane_floats(in.width) * static_cast<std::size_t>(lane))
          .run(begin, end, lane, median);
    });
  });
}

void synthesise(const Bank& bank, const Subbands& in, const Thresholds& thresholds,
                const ImageView<float>& out, ThreadPool& pool, float* lines) {
  with_taps(bank.taps, [&]<int Taps>() {
    pool.parallel_for((out.height + 1) / 2, band_rows, [&](int begin, int end, int lane) {
      SynthesisBand<Taps>(bank, in, thresholds, out,
                          lines + lane_floats(out.width) * static_cast<std::size_t>(lane))
          .run(begin, end);
    });
  });
}

}  // namespace quietframe::wavelet
