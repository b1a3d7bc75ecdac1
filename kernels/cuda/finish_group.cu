// Finishes groups on the device: one thread a sample, channel by channel.
#include "cuda/finish_group.hpp"

namespace quietframe::cuda {
namespace {

// Plain arguments: see copy_group.cu.
struct Samples {
  const std::byte* in;
  std::byte* out;
  std::ptrdiff_t in_stride, out_stride;
  int step, width, height;
};

constexpr unsigned block_width = 64, block_height = 4;

template <SampleType S>
__global__ void finish(const __grid_constant__ Finish f, Samples s) {
  const int x = static_cast<int>(blockIdx.x * block_width + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * block_height + threadIdx.y);
  if (x >= s.width || y >= s.height) return;
  const std::ptrdiff_t at = std::ptrdiff_t{x} * s.step;
  finish_sample<S>(f, s.in + y * s.in_stride + at, s.out + y * s.out_stride + at, x, y);
}

}  // namespace

void launch_finish_group(const Finish& f, const GroupView& in, const GroupView& out, cudaStream_t stream) {
  const dim3 block(block_width, block_height);
  const dim3 grid((static_cast<unsigned>(in.width) + block_width - 1) / block_width,
                  (static_cast<unsigned>(in.height) + block_height - 1) / block_height);
  with_sample_type(in.type, [&]<SampleType S>() {
    for (int c = 0; c < in.channels; ++c)
      finish<S><<<grid, block, 0, stream>>>(
          f, {in.channel[c], out.channel[c], in.stride[c], out.stride[c], in.step, in.width, in.height});
  });
}

}  // namespace quietframe::cuda
