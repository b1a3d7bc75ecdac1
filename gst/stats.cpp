// Counters and quantiles as a GstStructure.
#include "stats.hpp"

#include <algorithm>
#include <cmath>

#include "registered_memory.hpp"

namespace quietframe::gst {

Stats::Stats() {
  for (auto& ring : us_) ring.resize(kept);
}

void Stats::reset(std::string backend) {
  const std::lock_guard lock(mutex_);
  backend_ = std::move(backend);
  counts_ = {};
  copied_bytes_ = 0;
  any_ = false;
  samples_ = 0;
}

void Stats::frame_in() {
  const std::lock_guard lock(mutex_);
  ++counts_.in;
}

void Stats::dropped() {
  const std::lock_guard lock(mutex_);
  ++counts_.dropped;
}

void Stats::passed_through() {
  const std::lock_guard lock(mutex_);
  ++counts_.out;
}

void Stats::frame_out(const FrameReport& report, float total_us) {
  const std::lock_guard lock(mutex_);
  ++counts_.out;
  copied_bytes_ += report.cpu_copied_bytes;
  last_ = report;
  any_ = true;
  const auto i = samples_++ % kept;
  us_[upload][i] = report.upload_us;
  us_[kernel][i] = report.kernel_us;
  us_[download][i] = report.download_us;
  us_[total][i] = total_us;
}

Stats::Counts Stats::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

float Stats::noise_sigma() const {
  const std::lock_guard lock(mutex_);
  return any_ ? last_.sigma[0][0] : -1.f;
}

namespace {

// Nearest-rank quantile: the smallest value that at least q of all are not above.
float quantile(const std::vector<float>& sorted, double q) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

void set_double(GstStructure* s, const std::string& field, float value) {
  gst_structure_set(s, field.c_str(), G_TYPE_DOUBLE, static_cast<double>(value), nullptr);
}

}  // namespace

GstStructure* Stats::structure() const {
  std::unique_lock lock(mutex_);
  auto us = us_;
  const auto n = std::min(samples_, kept);
  const auto counts = counts_;
  const auto last = last_;
  const bool any = any_;
  auto* s = gst_structure_new(
      "videodenoise-stats", "backend", G_TYPE_STRING, backend_.c_str(), "frames-in", G_TYPE_UINT64, counts.in,
      "frames-out", G_TYPE_UINT64, counts.out, "frames-dropped", G_TYPE_UINT64, counts.dropped,
      "cpu-copied-bytes", G_TYPE_UINT64, copied_bytes_, "memory-path", G_TYPE_STRING,
      any ? to_string(last.path) : "none", "registered-bytes", G_TYPE_UINT64, registered_bytes(), nullptr);
  lock.unlock();

  constexpr const char* names[durations] = {"upload", "kernel", "download", "total"};
  for (int d = 0; d < durations; ++d) {
    auto& values = us[static_cast<std::size_t>(d)];
    values.resize(n);
    std::ranges::sort(values);
    const std::string name = names[d];
    set_double(s, name + "-p50-us", quantile(values, 0.5));
    set_double(s, name + "-p99-us", quantile(values, 0.99));
    set_double(s, name + "-max-us", values.empty() ? 0.f : values.back());
  }
  if (any && last.sigma[0][0] >= 0.f) set_double(s, "noise-sigma", last.sigma[0][0]);
  if (any && last.sigma[1][0] >= 0.f && last.sigma[1] != std::array<float, max_channels>{})
    set_double(s, "noise-sigma-chroma", last.sigma[1][0]);
  return s;
}

}  // namespace quietframe::gst
