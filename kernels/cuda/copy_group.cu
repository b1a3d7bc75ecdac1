// Copies the samples and carry bytes of one group, for planes and strengths that no filter touches.
#include "cuda/copy_group.hpp"

namespace quietframe::cuda {
namespace {

// One channel (or the carry bytes). Plain arguments: a GroupView indexed in a kernel's loop would be copied
// to local memory by every thread, which costs many times the bytes that are to be moved.
struct Samples {
  const std::byte* from;
  std::byte* to;
  std::ptrdiff_t from_stride, to_stride;
  int step, width, height;
};

constexpr int per_thread = 4, block_width = 64, block_height = 4;

template <int Bytes>
__global__ void copy_samples(Samples s) {
  const int y = static_cast<int>(blockIdx.y * block_height + threadIdx.y);
  if (y >= s.height) return;
  const std::byte* from = s.from + y * s.from_stride;
  std::byte* to = s.to + y * s.to_stride;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int x =
        static_cast<int>((blockIdx.x * per_thread + static_cast<unsigned>(i)) * block_width + threadIdx.x);
    if (x >= s.width) return;
    const std::ptrdiff_t at = std::ptrdiff_t{x} * s.step;
#pragma unroll
    for (int b = 0; b < Bytes; ++b) to[at + b] = from[at + b];
  }
}

void launch(const Samples& s, int bytes, cudaStream_t stream) {
  constexpr unsigned span = block_width * per_thread;
  const dim3 block(block_width, block_height);
  const dim3 grid((static_cast<unsigned>(s.width) + span - 1) / span,
                  (static_cast<unsigned>(s.height) + block_height - 1) / block_height);
  if (bytes == 1)
    copy_samples<1><<<grid, block, 0, stream>>>(s);
  else if (bytes == 2)
    copy_samples<2><<<grid, block, 0, stream>>>(s);
  else
    copy_samples<4><<<grid, block, 0, stream>>>(s);
}

}  // namespace

void launch_copy_group(const GroupView& in, const GroupView& out, cudaStream_t stream) {
  const int bytes = in.type == SampleType::u8 ? 1 : in.type == SampleType::f32 ? 4 : 2;
  for (int c = 0; c < in.channels; ++c)
    launch({in.channel[c], out.channel[c], in.stride[c], out.stride[c], in.step, in.width, in.height}, bytes,
           stream);
  if (in.carry)
    launch({in.carry, out.carry, in.stride[0], out.stride[0], in.step, in.width, in.height}, 1, stream);
}

}  // namespace quietframe::cuda
