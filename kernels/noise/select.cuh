// The exact median of magnitudes on the device: a histogram over the leading float bits while the values are
// made, then one launch that gathers the bin of the median and selects in it.
//
// Non-negative floats order as their bits ("keys") do. The histogram has 128 bins an octave from 2^-12 to
// 2^10 levels, so that the bin of the median holds about 0.3 % of a noisy subband. Counts are integers: the
// order of atomics is invisible.
#pragma once
#include <cstddef>
#include <cstdint>

namespace quietframe::noise {

inline constexpr int key_shift = 16;  ///< key bits below its bin: 7 of mantissa stay above
inline constexpr std::uint32_t first_bin = (127 - 12) << 7;  ///< keys below 2^-12 share bin 0
inline constexpr int bins = 22 << 7;                         ///< keys above 2^10 share the last
inline constexpr int fine_bins = 2048;
inline constexpr std::uint32_t candidate_limit = 8192;

/// One channel's working memory; all before `candidates` is zero when a frame begins.
struct MedianState {
  std::uint32_t histogram[bins];
  std::uint32_t fine[fine_bins];  ///< of the median's bin where that has more than candidate_limit values
  std::uint32_t found;            ///< candidates gathered
  std::uint32_t arrived;          ///< blocks done
  std::uint32_t unused[62];
  std::uint32_t candidates[candidate_limit];
};
inline constexpr std::size_t zeroed_bytes = offsetof(MedianState, candidates);
static_assert(sizeof(MedianState) % 256 == 0);

#ifdef __CUDACC__

__device__ inline std::uint32_t key_of(float v) { return __float_as_uint(v) & 0x7fffffffU; }

__device__ inline int bin_of(std::uint32_t key) {
  const int bin = static_cast<int>(key >> key_shift) - static_cast<int>(first_bin);
  return min(max(bin, 0), bins - 1);
}

/// Counts what a block sees in shared memory, then adds it to the frame's histogram.
class BlockHistogram {
 public:
  __device__ explicit BlockHistogram(std::uint32_t* shared) : shared_(shared) {
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x)) shared_[i] = 0;
  }
  /// Between barriers. Flat areas put all of a warp into bin 0, which would serialise: counted in a register.
  __device__ void add(float v) {
    const int bin = bin_of(key_of(v));
    if (bin == 0)
      ++tiny_;
    else
      atomicAdd(&shared_[bin], 1U);
  }
  /// By all threads of the block.
  __device__ void merge(std::uint32_t* global) {
    if (tiny_) atomicAdd(&shared_[0], tiny_);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < bins; i += static_cast<int>(blockDim.x))
      if (shared_[i]) atomicAdd(&global[i], shared_[i]);
  }

 private:
  std::uint32_t* shared_;
  std::uint32_t tiny_ = 0;
};

#endif

}  // namespace quietframe::noise
