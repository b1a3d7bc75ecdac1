// Copies the samples and carry bytes of one group, for planes and strengths that no filter touches.
#include <algorithm>

#include "cuda/copy_group.hpp"
#include "sample.hpp"

namespace quietframe::cuda {
namespace {

// One thread a pixel: this runs for formats whose channels interleave with others', so bytes are the common
// unit, and it is bound by latency beside the upload and download of the same bytes.
template <int Bytes>
__global__ void copy_group(GroupView in, GroupView out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= in.width) return;
  for (int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); y < in.height;
       y += static_cast<int>(gridDim.y * blockDim.y)) {
    for (int c = 0; c < in.channels; ++c) {
      const std::byte* from = in.channel[c] + y * in.stride[c] + std::ptrdiff_t{x} * in.step;
      std::byte* to = out.channel[c] + y * out.stride[c] + std::ptrdiff_t{x} * out.step;
#pragma unroll
      for (int b = 0; b < Bytes; ++b) to[b] = from[b];
    }
    if (in.carry)
      out.carry[y * out.stride[0] + std::ptrdiff_t{x} * out.step] =
          in.carry[y * in.stride[0] + std::ptrdiff_t{x} * in.step];
  }
}

}  // namespace

void launch_copy_group(const GroupView& in, const GroupView& out, cudaStream_t stream) {
  const dim3 block(64, 4);
  const dim3 grid((static_cast<unsigned>(in.width) + 63) / 64,
                  std::min((static_cast<unsigned>(in.height) + 3) / 4, 65535U));
  const int bytes = in.type == SampleType::u8 ? 1 : in.type == SampleType::f32 ? 4 : 2;
  if (bytes == 1)
    copy_group<1><<<grid, block, 0, stream>>>(in, out);
  else if (bytes == 2)
    copy_group<2><<<grid, block, 0, stream>>>(in, out);
  else
    copy_group<4><<<grid, block, 0, stream>>>(in, out);
}

}  // namespace quietframe::cuda
