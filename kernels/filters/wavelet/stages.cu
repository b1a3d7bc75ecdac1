// The wavelet filter with its coefficients in device memory, a thread per output: the data-parallel baseline
// (`stages`) and the published hybrid of it (`branches`).
//
// After "Hybrid CUDA acceleration of wavelet-based MRI image denoising": filters in constant memory, borders
// inside the kernels, both filters of a direction at once, pitched planes, unrolled taps. `stages` runs one
// kernel after another on one stream, thresholds a subband a launch, and synthesises rows in two launches
// with a plane between them. `branches` runs the vertical passes, the thresholds and the inverse vertical
// passes of the low and the high branch on two streams and synthesises rows in one launch.
#include <algorithm>

#include "cuda/launch.cuh"
#include "filters/wavelet/stages_cuda.hpp"
#include "filters/wavelet/tile.cuh"
#include "noise/median_cuda.hpp"

namespace quietframe::wavelet {
namespace {

__constant__ Bank banks[] = {haar, db4, sym4, coif2, bior44};

using Plane = ImageView<float>;

struct Position {
  int x, y;
};
__device__ Position position() {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y)};
}

template <int Taps, SampleType S>
__global__ void rows_forward(const __grid_constant__ Channels in, Plane lo, Plane hi, int basis) {
  const auto [i, y] = position();
  if (i >= lo.width || y >= lo.height) return;
  const Bank& b = banks[basis];
  const GroupView& g = in.group;
  const std::byte* row = g.channel[0] + y * g.stride[0];
  float l = 0.f, h = 0.f;
#pragma unroll
  for (int j = 0; j < Taps; ++j) {
    const int x = mirror(2 * i + 1 - j, g.width);
    const float v = load_level<S>(row + std::ptrdiff_t{x} * g.step, g.shift, g.levels_per_code);
    l = fmaf(b.dec_lo[j], v, l);
    h = fmaf(b.dec_hi[j], v, h);
  }
  lo.row(y)[i] = l;
  hi.row(y)[i] = h;
}

template <int Taps>
__global__ void columns_forward(Plane in, Plane lo, Plane hi, int basis) {
  const auto [x, i] = position();
  if (x >= lo.width || i >= lo.height) return;
  const Bank& b = banks[basis];
  float l = 0.f, h = 0.f;
#pragma unroll
  for (int j = 0; j < Taps; ++j) {
    const float v = in.row(mirror(2 * i + 1 - j, in.height))[x];
    l = fmaf(b.dec_lo[j], v, l);
    h = fmaf(b.dec_hi[j], v, h);
  }
  lo.row(i)[x] = l;
  hi.row(i)[x] = h;
}

__global__ void threshold(Plane band, const __grid_constant__ CudaSigma sigma, int c, float alpha, float beta,
                          Rule rule) {
  const auto [x, y] = position();
  if (x >= band.width || y >= band.height) return;
  float v[1] = {band.row(y)[x]};
  shrink_all(rule, beta * (alpha * sigma(c)), v);
  band.row(y)[x] = v[0];
}

// Row y of the output from coefficient rows y / 2 .. y / 2 + taps / 2 - 1.
template <int Taps>
__global__ void columns_inverse(Plane lo, Plane hi, Plane out, int basis) {
  const auto [x, y] = position();
  if (x >= out.width || y >= out.height) return;
  const Bank& b = banks[basis];
  const int odd = y % 2, last = y / 2 + Taps / 2 - 1;
  float sum = 0.f;
#pragma unroll
  for (int j = 0; j < Taps / 2; ++j) {
    sum = fmaf(b.rec_lo[2 * j + odd], lo.row(last - j)[x], sum);
    sum = fmaf(b.rec_hi[2 * j + odd], hi.row(last - j)[x], sum);
  }
  out.row(y)[x] = sum;
}

template <int Taps>
__device__ float synthesise_row(const float* filter, const float* c, int x, float sum) {
  const int odd = x % 2, last = x / 2 + Taps / 2 - 1;
#pragma unroll
  for (int j = 0; j < Taps / 2; ++j) sum = fmaf(filter[2 * j + odd], c[last - j], sum);
  return sum;
}

/// The low-pass half of the horizontal synthesis, to be completed by rows_inverse.
template <int Taps>
__global__ void rows_inverse_low(Plane lo, Plane out, int basis) {
  const auto [x, y] = position();
  if (x >= out.width || y >= out.height) return;
  out.row(y)[x] = synthesise_row<Taps>(banks[basis].rec_lo, lo.row(y), x, 0.f);
}

struct Output {
  Channels in, out;
  float strength;
  int channel;  ///< of the frame: the first carries alpha along
};

template <int Taps, SampleType S, bool Partial>
__global__ void rows_inverse(Plane lo, Plane hi, const __grid_constant__ Output o, int basis) {
  const auto [x, y] = position();
  const GroupView &in = o.in.group, &out = o.out.group;
  if (x >= out.width || y >= out.height) return;
  const Bank& b = banks[basis];
  float level = Partial ? lo.row(y)[x] : synthesise_row<Taps>(b.rec_lo, lo.row(y), x, 0.f);
  level = synthesise_row<Taps>(b.rec_hi, hi.row(y), x, level);
  if (o.strength != 1.f) {
    const std::byte* before = in.channel[0] + y * in.stride[0] + std::ptrdiff_t{x} * in.step;
    const float v = load_level<S>(before, in.shift, in.levels_per_code);
    level = __fadd_rn(v, __fmul_rn(o.strength, __fsub_rn(level, v)));
  }
  std::byte* to = out.channel[0] + y * out.stride[0] + std::ptrdiff_t{x} * out.step;
  if constexpr (S == SampleType::f32)
    *reinterpret_cast<float*>(to) = level;
  else
    store_code<S>(to, out.shift, static_cast<int>(code_of<S>(level, o.out)));
  if (out.carry && o.channel == 0) {
    const std::ptrdiff_t at = std::ptrdiff_t{x};
    out.carry[y * out.stride[0] + at * out.step] = in.carry[y * in.stride[0] + at * in.step];
  }
}

/// Hands out parts of the scratch; counts only where there is none.
class Arena {
 public:
  explicit Arena(std::byte* base) : base_(base) {}
  std::byte* take(std::size_t bytes) {
    std::byte* p = base_ ? base_ + used_ : nullptr;
    used_ += (bytes + 255) / 256 * 256;
    return p;
  }
  /// Rows on multiples of 256 bytes, or without gaps.
  Plane plane(int width, int height, bool pitched = true) {
    const std::ptrdiff_t row = std::ptrdiff_t{width} * 4, stride = pitched ? (row + 255) / 256 * 256 : row;
    return {
        reinterpret_cast<float*>(take(static_cast<std::size_t>(stride) * static_cast<std::size_t>(height))),
        width, height, stride};
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

struct Level {
  int width, height;  ///< of its input and output
  Plane lo, hi,
      partial;  ///< half as wide, between the directions; and a full plane for the low half of the synthesis
  Plane ll, lh, hl, hh;
};

struct Workspace {
  noise::MedianState* state;
  std::array<Level, max_levels> level;
  std::size_t bytes;
};

Workspace lay_out(std::byte* scratch, int width, int height, int taps, int levels) {
  Arena arena(scratch);
  Workspace w{};
  w.state = reinterpret_cast<noise::MedianState*>(arena.take(sizeof(noise::MedianState)));
  for (int l = 0; l < levels; ++l) {
    auto& v = w.level[l];
    const int cw = coefficients(width, taps), ch = coefficients(height, taps);
    v = {width,
         height,
         arena.plane(cw, height),
         arena.plane(cw, height),
         arena.plane(width, height),
         arena.plane(cw, ch),
         arena.plane(cw, ch),
         arena.plane(cw, ch),
         arena.plane(cw, ch, false)};
    width = cw;
    height = ch;
  }
  w.bytes = arena.used();
  return w;
}

GroupView view_of(const Plane& p) {
  GroupView v;
  v.channel[0] = reinterpret_cast<std::byte*>(p.data);
  v.stride[0] = p.stride;
  v.channels = 1;
  v.step = 4;
  v.width = p.width;
  v.height = p.height;
  v.type = SampleType::f32;
  return v;
}

GroupView channel_of(const GroupView& group, int c) {
  GroupView v = group;
  v.channel[0] = group.channel[c];
  v.stride[0] = group.stride[c];
  v.channels = 1;
  if (c != 0) v.carry = nullptr;
  return v;
}

/// Enqueues the launches of one channel.
class Channel {
 public:
  Channel(const CudaJob& job, const Params& p, int block, int c)
      : job_(job),
        p_(p),
        block_(block),
        c_(c),
        basis_(static_cast<int>(p.basis)),
        taps_(bank_of(p.basis).taps),
        in_(channel_of(job.in, c)),
        out_(channel_of(job.out, c)),
        space_(lay_out(job.scratch, job.in.width, job.in.height, taps_, p.levels)) {
    estimate_ = job.sigma.fixed[0] < 0.f;
  }

  void enqueue() {
    for (int l = 0; l < p_.levels; ++l) analyse(l);
    if (estimate_) estimate();
    for (int l = p_.levels - 1; l >= 0; --l) synthesise(l);
  }

 private:
  bool branches() const { return p_.schedule == Schedule::branches; }
  cudaStream_t main() const { return job_.stream; }
  cudaStream_t side() const { return branches() ? job_.side_stream : job_.stream; }

  void fork() const {
    if (!branches()) return;
    QF_CUDA_CHECK(cudaEventRecord(job_.fork, job_.stream));
    QF_CUDA_CHECK(cudaStreamWaitEvent(job_.side_stream, job_.fork));
  }
  void join() const {
    if (!branches()) return;
    QF_CUDA_CHECK(cudaEventRecord(job_.join, job_.side_stream));
    QF_CUDA_CHECK(cudaStreamWaitEvent(job_.stream, job_.join));
  }

  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), int width, int height, cudaStream_t stream,
           const Arguments&... args) const {
    const dim3 block(static_cast<unsigned>(block_), static_cast<unsigned>(block_));
    const dim3 grid((static_cast<unsigned>(width) + block.x - 1) / block.x,
                    (static_cast<unsigned>(height) + block.y - 1) / block.y);
    cuda::launch(kernel, grid, block, 0, false, stream, args...);
  }

  GroupView samples(int l, const GroupView& frame) const {
    return l == 0 ? frame : view_of(space_.level[l - 1].ll);
  }

  void analyse(int l) const {
    const auto& v = space_.level[l];
    const auto in = channels_of(samples(l, in_));
    with_taps(taps_, [&]<int Taps>() {
      with_sample_type(in.group.type, [&]<SampleType S>() {
        run(rows_forward<Taps, S>, v.lo.width, v.lo.height, main(), in, v.lo, v.hi, basis_);
      });
      fork();
      run(columns_forward<Taps>, v.ll.width, v.ll.height, main(), v.lo, v.ll, v.lh, basis_);
      run(columns_forward<Taps>, v.hl.width, v.hl.height, side(), v.hi, v.hl, v.hh, basis_);
      join();
    });
  }

  void estimate() const {
    const auto& hh = space_.level[0].hh;
    noise::MedianInput median;
    median.channels = 1;
    median.count = hh.width * hh.height;
    median.values[0] = hh.data;
    median.state[0] = space_.state;
    noise::enqueue_clear(median, main());
    noise::enqueue_count(median, main());
    auto to = job_.sigma;
    to.device += c_;
    if (to.report) to.report += c_;
    noise::enqueue_sigma(median, to, false, main());
  }

  void shrink(const Plane& band, float alpha, float beta, cudaStream_t stream) const {
    run(threshold, band.width, band.height, stream, band, job_.sigma, c_, alpha, beta, p_.threshold);
  }

  void synthesise(int l) const {
    const auto& v = space_.level[l];
    const float alpha = level_alpha(p_, l);
    with_taps(taps_, [&]<int Taps>() {
      fork();
      shrink(v.lh, alpha, p_.beta_lh, main());
      shrink(v.hl, alpha, p_.beta_hl, side());
      shrink(v.hh, alpha, p_.beta_hh, side());
      run(columns_inverse<Taps>, v.lo.width, v.lo.height, main(), v.ll, v.lh, v.lo, basis_);
      run(columns_inverse<Taps>, v.hi.width, v.hi.height, side(), v.hl, v.hh, v.hi, basis_);
      join();
      const Output o{channels_of(samples(l, in_)), channels_of(samples(l, out_)),
                     l == 0 ? job_.strength : 1.f, c_};
      with_sample_type(o.out.group.type, [&]<SampleType S>() {
        if (branches()) {
          run(rows_inverse<Taps, S, false>, v.width, v.height, main(), v.lo, v.hi, o, basis_);
        } else {
          run(rows_inverse_low<Taps>, v.width, v.height, main(), v.lo, v.partial, basis_);
          run(rows_inverse<Taps, S, true>, v.width, v.height, main(), v.partial, v.hi, o, basis_);
        }
      });
    });
  }

  const CudaJob& job_;
  const Params& p_;
  int block_, c_, basis_, taps_;
  GroupView in_, out_;
  Workspace space_;
  bool estimate_;
};

}  // namespace

std::size_t stages_scratch(int width, int height) {
  return lay_out(nullptr, width, height, max_taps, max_levels).bytes;
}

void enqueue_stages(const CudaJob& job, const Params& p, int block) {
  for (int c = 0; c < job.in.channels; ++c) Channel(job, p, block, c).enqueue();
}

}  // namespace quietframe::wavelet
