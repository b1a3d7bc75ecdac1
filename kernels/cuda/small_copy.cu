// Copies between page-locked host memory and device memory, 16 bytes a thread at a time.
#include "cuda/small_copy.hpp"

#include <cstdint>

namespace quietframe::cuda {
namespace {

constexpr unsigned bytes_per_thread = 16;

__global__ void small_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x,
                    step = std::size_t{gridDim.x} * blockDim.x;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % 16) == 0;
  const std::size_t vectors = aligned ? bytes / 16 : 0;
  for (std::size_t i = first; i < vectors; i += step)
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  for (std::size_t i = vectors * 16 + first; i < bytes; i += step) to[i] = from[i];
}

}  // namespace

SmallCopy::SmallCopy(std::byte* to_, const std::byte* from_, std::size_t bytes_)
    : to(to_),
      from(from_),
      bytes(bytes_),
      arguments{&to, &from, &bytes},
      blocks(
          static_cast<unsigned>((bytes_ + threads * bytes_per_thread - 1) / (threads * bytes_per_thread))) {}

void* SmallCopy::function() { return reinterpret_cast<void*>(small_copy); }

}  // namespace quietframe::cuda
