// The element's properties, all made from parameter rows, and the snapshot of them that one frame is filtered
// with.
#pragma once
#include <gst/gst.h>

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "filter.hpp"
#include "processor.hpp"
#include "settings.hpp"

namespace quietframe::gst {

inline constexpr int max_async_depth = 16;

/// Properties of the element itself.
struct ElementParams {
  BackendChoice backend = BackendChoice::automatic;
  int cuda_device_id = -1;
  int async_depth = 4;
  int bit_depth = 0;
  bool qos = true;
  bool roi_from_meta = false;
  int stats_interval = 0;
};

inline constexpr ParamInfo element_params[] = {
    QF_PARAM_ENUM(ElementParams, backend, "backend", backend_choices, "Where frames are filtered"),
    QF_PARAM(ElementParams, cuda_device_id, "cuda-device-id", "", -1, 255,
             "Index of the CUDA device as nvidia-smi lists it; -1: the first that can be used"),
    QF_PARAM(
        ElementParams, async_depth, "async-depth", "frames", 1, max_async_depth,
        "Most frames in flight; each is pushed the moment it is done, so depth buys throughput and costs "
        "no latency"),
    QF_PARAM(ElementParams, bit_depth, "bit-depth", "bits", 0, 16,
             "Bits in use of GRAY16 samples, least significant first; 0: all 16"),
    QF_PARAM(ElementParams, qos, "qos", "", 0, 1,
             "Drop frames that would reach the sink too late, and say so"),
    QF_PARAM(ElementParams, roi_from_meta, "roi-from-meta", "", 0, 1,
             "Filter inside of the frame's GstVideoRegionOfInterestMetas alone (and of roi); a frame that "
             "has none "
             "passes untouched"),
    QF_PARAM(ElementParams, stats_interval, "stats-interval", "ms", 0, 3600000,
             "Post the statistics as an element message videodenoise so often; 0: never"),
};

/// What the element begins with: a stream's noise is smoothed where a still picture's is its own.
inline constexpr CommonParams stream_defaults = [] {
  CommonParams common;
  common.noise_estimate = NoiseEstimate::smoothed;
  return common;
}();

/// common_params with these defaults.
inline constexpr auto stream_params = [] {
  auto rows = std::to_array(common_params);
  for (auto& row : rows)
    if (row.offset == offsetof(CommonParams, noise_estimate))
      row.default_value = static_cast<double>(stream_defaults.noise_estimate);
  return rows;
}();

/// Filter numbers of the property `filter`: 0 is none, i > 0 is all_filters()[i - 1].
int default_filter();
const FilterInfo* filter_of(int number);

using FilterParams = std::array<std::byte, max_params_size>;

struct Values {
  int preset = 0;  ///< of presets(); 0 is custom
  int filter = 0;
  ElementParams element;
  CommonParams common;
  std::vector<FilterParams> filters;  ///< in the order of all_filters()
};

/// All values with their defaults. Safe from any thread.
class Properties {
 public:
  Properties();

  /// False when `id` is not one of the ids that install() gave out. `changed` receives the names of other
  /// properties that change along with it: those of a preset, or the preset that holds no longer.
  bool set(guint id, const GValue* value, std::vector<std::string>* changed);
  bool get(guint id, GValue* value) const;

  /// What a frame is filtered with now. The filter is null for `none`.
  struct Snapshot {
    FrameSettings frame;
    ElementParams element;
    bool passthrough;  ///< filter=none or strength=0: the frame is not to be touched
  };
  Snapshot snapshot() const;
  int stats_interval() const;  ///< milliseconds, 0: none

  /// Installs the properties with ids from `first` on; returns the first free id.
  static guint install(GObjectClass* klass, guint first);

 private:
  mutable std::mutex mutex_;
  Values values_;
};

}  // namespace quietframe::gst
