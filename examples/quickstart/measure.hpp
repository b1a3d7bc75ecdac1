// Runs a clip through videodenoise in a real pipeline and measures quality, latency and speed.
#pragma once
#include <string>
#include <vector>

#include "common/clip.hpp"
#include "common/percentiles.hpp"

namespace quietframe::examples {

struct RunRequest {
  std::string filter;  ///< value of the property of that name
  std::string backend = "auto";
  std::vector<std::string> settings;  ///< further PROPERTY=VALUE
  int sheet_frame = 0;                ///< the frame that is kept for the contact sheet
};

struct RunResult {
  std::string filter, backend, memory;
  int frames_in = 0, frames_out = 0;  ///< of the one-by-one pass
  double frames_per_second = 0;       ///< as many in flight as the element takes
  Times latency;                      ///< microseconds from pushing a frame to having it back, one in flight
  double psnr = 0, ssim = 0;          ///< mean over the frames; NaN without a clean version
  double sigma = 0;                   ///< noise sigma of the first plane, levels; NaN where none was needed
  Owned<GstBuffer> kept;
};

/// Mean PSNR (dB) and SSIM of GRAY8 frames against a phantom's clean ones, as they come.
class Quality {
 public:
  explicit Quality(const Clip& clip) : clip_(clip) {}
  void add(std::size_t index, GstBuffer* frame);
  double psnr() const;
  double ssim() const;

 private:
  const Clip& clip_;
  double psnr_ = 0, ssim_ = 0;
  int count_ = 0;
};

/// Throws PipelineError.
RunResult run_filter(const Clip& clip, const RunRequest& request);

}  // namespace quietframe::examples
