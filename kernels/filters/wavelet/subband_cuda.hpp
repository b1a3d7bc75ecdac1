// One subband of a picture on the device, straight from its samples: HH for the noise, LL for the next level.
#pragma once
#include "filters/wavelet/bank.hpp"
#include "noise/median_cuda.hpp"

namespace quietframe::wavelet {

/// Bytes of scratch for enqueue_measure on a group, whatever the basis.
std::size_t measure_scratch(int width, int height, int channels);

/// Enqueues the noise estimate of each channel of `in` with the filters of `basis`: median(|HH|) / 0.6745,
/// written to sigma.device and sigma.report. Kernels that call cuda::wait_for_previous_kernel may be launched
/// after it with overlap.
void enqueue_measure(Basis basis, const GroupView& in, const CudaSigma& sigma, std::byte* scratch,
                     cudaStream_t stream);

/// Enqueues LL of each channel of `in` into `ll` (f32, one plane a channel).
void enqueue_ll(Basis basis, const GroupView& in, const GroupView& ll, cudaStream_t stream);

}  // namespace quietframe::wavelet
