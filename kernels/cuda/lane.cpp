// Enqueues a frame: upload, filters group by group, download.
#include "cuda/lane.hpp"

#include <algorithm>
#include <string>

#include "cuda/error.hpp"
#include "cuda/job.hpp"
#include "cuda/runtime.hpp"
#include "finish.hpp"
#include "noise/smoothed_cuda.hpp"

namespace quietframe::cuda {
namespace {

constexpr std::size_t sigma_bytes = 256;  // max_groups x max_channels floats, and the frames stay aligned
static_assert(sizeof(float) * max_groups * max_channels <= sigma_bytes);

CudaShape shape_of(const FrameFormat& format, int group) {
  const auto& info = format_info(format.format);
  const auto& g = info.group[group];
  return {group_width(g, format.width), group_height(g, format.height), g.channels, info.type};
}

float strength_of(const CommonParams& common, bool chroma) {
  if (chroma && common.planes == Planes::luma) return 0.f;
  return common.strength * (chroma ? common.chroma_strength : 1.f);
}

// The only plane of `frame` as bytes.
GroupView bytes_of(const Frame& frame) {
  const auto size = plane_size(format_info(frame.format.format), 0, frame.format.width, frame.format.height);
  GroupView v;
  v.channel[0] = frame.plane[0];
  v.stride[0] = frame.stride[0];
  v.channels = v.step = 1;
  v.width = static_cast<int>(size.row_bytes);
  v.height = size.rows;
  return v;
}

// Frames in the caller's own device memory come at addresses that change from frame to frame, which kernels
// have in their arguments: capturing a graph for each would cost the host more than the launches do.
bool runs_without_graph(const Frame& in, const Frame& out) {
  return in.memory == MemoryKind::device || out.memory == MemoryKind::device;
}

}  // namespace

void Lane::allocate(const FrameFormat& format) {
  graph_.reset();
  key_ = {};
  let_go();
  const auto capacity = device_capacity(format);
  if (capacity != capacity_ || !frames_) {
    frames_.reset();
    capacity_ = 0;
    frames_ = allocate_device(sigma_bytes + 2 * capacity);
    // Staged frames come down in one copy with the padding of their rows, which no kernel writes.
    QF_CUDA_CHECK(runtime().device_clear(frames_.get(), sigma_bytes + 2 * capacity));
    capacity_ = capacity;
  }
  scratch_.reset();
  scratch_bytes_ = 0;
  format_ = format;
  if (stream_) return;
  stream_ = make_stream();
  side_ = make_stream();
  fork_ = make_event(EventKind::ordering);
  join_ = make_event(EventKind::ordering);
}

void Lane::hold(std::uint64_t number, const GraphKey& key) {
  holds_ = static_cast<std::int64_t>(number);
  held_ = device_frame(key.in, format_, device_in());
}

void Lane::synchronize() noexcept {
  if (stream_ && runtime().stream_synchronize(stream_.get()) != 0) runtime().take_last_error();
}

std::byte* Lane::device_in() const { return frames_.get() + sigma_bytes; }
std::byte* Lane::device_out() const { return device_in() + capacity_; }

std::size_t Lane::scratch_needed(const FilterInfo* filter) const {
  std::size_t bytes = 0;
  if (!filter) return 0;
  for (int g = 0; g < format_info(format_.format).groups; ++g) {
    const auto shape = shape_of(format_, g);
    bytes = std::max({bytes, runtime().filter_scratch(*filter, shape), runtime().noise_scratch(shape)});
  }
  return bytes;
}

// Sets the host addresses of the captured copies; false where that takes another capture.
bool Lane::readdress(const GraphKey& key, const Frame& in, const Frame& out) {
  std::size_t number = 0;
  auto set = [&](const FrameLayout& layout, const Frame& host, std::byte* device, CopyKind kind) {
    std::array<Copy, max_planes> copies;
    const int n = copies_of(layout, host, device, kind, copies);
    for (int i = 0; i < n; ++i)
      if (!graph_.set_copy(number++, copies[i])) return false;
    return true;
  };
  return set(key.in, in, device_in(), CopyKind::upload) &&
         set(key.out, out, device_out(), CopyKind::download);
}

void Lane::prepare(const GraphKey& key, const Frame& in, const Frame& out) {
  const bool direct = runs_without_graph(in, out);
  if (!direct && graph_.captured() && key == key_ && readdress(key, in, out)) return;
  if (key.filter && !runtime().runs(*key.filter))
    throw Error(std::string("the filter ") + key.filter->name +
                " has no CUDA version in this build. Use backend=cpu for it.");
  if (const auto bytes = scratch_needed(key.filter); bytes > scratch_bytes_) {
    synchronize();
    scratch_.reset();
    scratch_bytes_ = 0;
    scratch_ = allocate_device(bytes);
    scratch_bytes_ = bytes;
  }
  if (direct) return;
  capturing_ = true;
  try {
    graph_.capture(stream_.get(), [&] { enqueue(key, in, out); });
  } catch (...) {
    capturing_ = false;
    throw;
  }
  capturing_ = false;
  key_ = key;
}

void Lane::launch(const GraphKey& key, const Frame& in, const Frame& out) {
  if (runs_without_graph(in, out))
    enqueue(key, in, out);
  else
    graph_.launch(stream_.get());
}

void Lane::mark(const Event& event) {
  cudaGraphNode_t node = nullptr;
  QF_CUDA_CHECK(capturing_ ? runtime().event_record_node(event.get(), stream(), &node)
                           : runtime().event_record(event.get(), stream()));
}

// From within the frame, not before it: its upload need not wait.
void Lane::wait_for(cudaEvent_t event) {
  if (event)
    QF_CUDA_CHECK(capturing_ ? runtime().event_wait_node(event, stream())
                             : runtime().stream_wait(stream(), event));
}

void Lane::mark_time(const GraphKey& key, int time) {
  if (key.timing) mark(key.events->timing[time]);
}

void Lane::enqueue_copies(const FrameLayout& layout, const Frame& host, std::byte* device, CopyKind kind) {
  std::array<Copy, max_planes> copies;
  const int n = copies_of(layout, host, device, kind, copies);
  for (int i = 0; i < n; ++i)
    if (capturing_)
      graph_.add_copy(copies[i], stream());
    else
      QF_CUDA_CHECK(runtime().copy_node(copies[i], stream(), nullptr));
}

void Lane::enqueue(const GraphKey& key, const Frame& in, const Frame& out) {
  Frame from = key.in_device, to = key.out_device;
  mark_time(key, 0);
  const bool on_device = in.memory == MemoryKind::device;
  if (!on_device || key.keep_input) {
    from = device_frame(key.in, format_, device_in());
    enqueue_copies(key.in, in, device_in(), on_device ? CopyKind::on_device : CopyKind::upload);
    if (key.upload_event) mark(key.events->uploaded);
  }
  mark_time(key, 1);
  if (out.memory != MemoryKind::device) to = device_frame(key.out, format_, device_out());
  if (has_orphan_luma(format_)) QF_CUDA_CHECK(runtime().copy_group(bytes_of(from), bytes_of(to), stream()));
  const int groups = format_info(format_.format).groups;
  std::array<CudaSigma, max_groups> sigma;
  if (key.smoothed) {
    wait_for(key.smoothed_after);
    for (int g = 0; g < groups; ++g) sigma[g] = enqueue_noise(key, from, g);
    mark(key.events->noise_known);
  }
  for (int g = 0; g < groups; ++g) {
    if (!key.smoothed) sigma[g] = enqueue_noise(key, from, g);
    enqueue_group(key, from, to, g, sigma[g]);
  }
  if (key.finish)
    for (int g = 0; g < groups; ++g) enqueue_finish(key, from, to, g);
  mark_time(key, 2);
  if (out.memory != MemoryKind::device) enqueue_copies(key.out, out, device_out(), CopyKind::download);
  mark_time(key, 3);
}

void Lane::enqueue_finish(const GraphKey& key, const Frame& from, const Frame& to, int group) {
  const auto f = finish_of(format_, group, key.region, key.common.preview, key.mask);
  QF_CUDA_CHECK(runtime().finish_group(f, group_view(from, group), group_view(to, group), stream()));
}

CudaSigma Lane::enqueue_noise(const GraphKey& key, const Frame& from, int group) {
  const auto in = group_view(from, group);
  CudaSigma sigma;
  if (!key.filter || strength_of(key.common, in.chroma) == 0.f) return sigma;
  const auto use = key.filter->noise_use(key.params.data());
  if (key.common.noise_sigma > 0.f) {
    sigma.fixed.fill(key.common.noise_sigma);
  } else if (use != NoiseUse::none) {
    sigma.device = reinterpret_cast<float*>(frames_.get()) + group * max_channels;
    sigma.report = key.sigma_report + group * max_channels;
    if (key.smoothed) {
      QF_CUDA_CHECK(runtime().smooth_noise(in, key.smoothed + group * max_channels, key.smoothed_step + group,
                                           sigma, stream()));
    } else {
      sigma.fixed.fill(-1.f);
      if (use == NoiseUse::shared)
        QF_CUDA_CHECK(runtime().estimate_noise(in, sigma, scratch_.get(), stream()));
    }
  }
  return sigma;
}

void Lane::enqueue_group(const GraphKey& key, const Frame& from, const Frame& to, int group,
                         const CudaSigma& sigma) {
  const auto in = group_view(from, group), out = group_view(to, group);
  const float strength = strength_of(key.common, in.chroma);
  if (!key.filter || strength == 0.f) {
    QF_CUDA_CHECK(runtime().copy_group(in, out, stream()));
    return;
  }
  CudaJob job;
  job.in = in;
  job.out = out;
  job.strength = strength;
  job.sigma = sigma;
  job.scratch = scratch_.get();
  job.scratch_bytes = scratch_bytes_;
  job.stream = stream();
  job.side_stream = side_.get();
  job.fork = fork_.get();
  job.join = join_.get();
  std::array<GroupView, max_history> past;
  for (int i = 0; i < key.past; ++i) past[i] = group_view(key.past_frames[i], group);
  job.past = std::span<const GroupView>(past.data(), static_cast<std::size_t>(key.past));
  QF_CUDA_CHECK(runtime().run_filter(*key.filter, job, key.params.data()));
}

}  // namespace quietframe::cuda
