// The definition of the median filter: the window's samples, and the one of the wanted rank among them.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "params.hpp"
#include "thread_pool.hpp"

namespace quietframe::median {
namespace {

float ranked(const ImageView<float>& in, int x, int y, const Window& w, std::int32_t* keys) {
  int n = 0;
  for (int j = -w.height / 2; j <= w.height / 2; ++j) {
    const float* row = in.row(std::clamp(y + j, 0, in.height - 1));
    for (int i = -w.width / 2; i <= w.width / 2; ++i)
      keys[n++] = order_key(row[std::clamp(x + i, 0, in.width - 1)]);
  }
  std::nth_element(keys, keys + w.rank, keys + n);
  return from_order_key(keys[w.rank]);
}

}  // namespace

void check_window(const Window& w) {
  auto odd = [](int k) { return k >= 1 && k <= max_window && k % 2 == 1; };
  if (!odd(w.width) || !odd(w.height) || w.rank < 0 || w.rank >= w.count())
    throw std::invalid_argument("median window " + std::to_string(w.width) + "x" + std::to_string(w.height) +
                                ", rank " + std::to_string(w.rank) + ": width and height must be odd, 1 to " +
                                std::to_string(max_window) + ", and the rank less than their product");
}

void run_window_cpu(CpuJob& job, const Window& window) {
  check_window(window);
  const auto count = static_cast<std::size_t>(window.count());
  auto* keys = job.scratch.items<std::int32_t>(0, count * static_cast<std::size_t>(job.pool.lanes()));
  for (int c = 0; c < job.in.channels; ++c)
    job.pool.parallel_for(job.in.height(), 8, [&](int begin, int end, int lane) {
      for (int y = begin; y < end; ++y)
        for (int x = 0; x < job.in.width(); ++x)
          job.out.channel[c].row(y)[x] =
              ranked(job.in.channel[c], x, y, window, keys + count * static_cast<std::size_t>(lane));
    });
}

void run_cpu(CpuJob& job, const Params& p) { run_window_cpu(job, window(p)); }

}  // namespace quietframe::median
