// The exact median of magnitudes: a histogram over the leading bits of the floats, then a selection in one
// bin.
#include "noise/median.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "thread_pool.hpp"

namespace quietframe {
namespace {

// Non-negative floats order as their bits do. The leading 11 bits after the sign are the exponent and three
// bits of mantissa: the bin of the median holds some percent of the values of a noisy subband.
constexpr int bin_shift = 20;
constexpr std::size_t bin_count = std::size_t{1} << (31 - bin_shift);

std::uint32_t bin_of(float v) { return (std::bit_cast<std::uint32_t>(v) & 0x7fffffffU) >> bin_shift; }

// The bin that the value of this rank (from 0, ascending) is in, and how many values are in the bins before
// it.
struct Place {
  std::uint32_t bin;
  std::size_t before;
};

Place find_rank(const std::uint32_t* bins, std::size_t rank) {
  Place p{0, 0};
  while (p.before + bins[p.bin] <= rank) p.before += bins[p.bin++];
  return p;
}

}  // namespace

AbsMedian::AbsMedian(ThreadPool& pool, Scratch& scratch, std::size_t first_buffer, std::size_t max_count)
    : pool_(pool) {
  const std::size_t all = bin_count * static_cast<std::size_t>(pool.lanes());
  bins_ = reinterpret_cast<std::uint32_t*>(scratch.floats(first_buffer, all));
  candidates_ = scratch.floats(first_buffer + 1, max_count);
  std::fill(bins_, bins_ + all, 0U);
}

void AbsMedian::count(const float* values, int n, int lane) {
  std::uint32_t* bins = bins_ + bin_count * static_cast<std::size_t>(lane);
  for (int i = 0; i < n; ++i) ++bins[bin_of(values[i])];
}

float AbsMedian::median(const ImageView<const float>& values) {
  for (int lane = 1; lane < pool_.lanes(); ++lane)
    for (std::size_t i = 0; i < bin_count; ++i)
      bins_[i] += bins_[bin_count * static_cast<std::size_t>(lane) + i];
  const std::size_t n = static_cast<std::size_t>(values.width) * static_cast<std::size_t>(values.height);
  const auto upper = find_rank(bins_, n / 2);
  const auto lower = n % 2 == 0 ? find_rank(bins_, n / 2 - 1) : upper;

  std::atomic<std::size_t> found{0};
  pool_.parallel_for(values.height, 64, [&](int begin, int end, int) {
    std::size_t here = 0;
    auto wanted = [&](float v) { return bin_of(v) >= lower.bin && bin_of(v) <= upper.bin; };
    for (int y = begin; y < end; ++y)
      here += std::count_if(values.row(y), values.row(y) + values.width, wanted);
    float* to = candidates_ + found.fetch_add(here);
    for (int y = begin; y < end; ++y)
      for (int x = 0; x < values.width; ++x)
        if (const float v = values.row(y)[x]; wanted(v)) *to++ = std::abs(v);
  });
  const std::size_t rank = n / 2 - lower.before;
  std::nth_element(candidates_, candidates_ + rank, candidates_ + found);
  if (n % 2 == 1) return candidates_[rank];
  return (*std::max_element(candidates_, candidates_ + rank) + candidates_[rank]) * 0.5f;
}

}  // namespace quietframe
