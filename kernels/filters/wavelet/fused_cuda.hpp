// One level of the fused schedule: analysis, thresholds and synthesis of a group in one launch.
#pragma once
#include "cuda/job.hpp"
#include "filters/wavelet/params.hpp"

namespace quietframe::wavelet {

struct FusedLevel {
  GroupView in,
      out;       ///< of one size and type: the frame's samples, or the LL of the level before as f32 planes
  GroupView ll;  ///< what takes the place of this level's LL, f32; no channels: it is kept
  CudaSigma sigma;
  float strength = 1.f;
  bool overlap = false;      ///< launched after a kernel that lets it start early
  bool in_is_early = false;  ///< `in` was complete before that kernel began
};

void enqueue_fused_level(const FusedLevel& level, const Params& p, cudaStream_t stream);

}  // namespace quietframe::wavelet
