// Messages and log lines; none of them per frame.
#include "reporter.hpp"

#include "debug.hpp"

namespace quietframe::gst {
namespace {

const char* describe(MemoryKind kind, bool input) {
  switch (kind) {
    case MemoryKind::device:
      return "device memory, nothing is copied";
    case MemoryKind::pinned:
      return input ? "page-locked memory, read by the GPU itself"
                   : "page-locked memory, written by the GPU itself";
    case MemoryKind::pageable:
      break;
  }
  return input ? "ordinary memory, copied by the CPU through page-locked memory, because upstream did not "
                 "take the "
                 "allocator that was offered (docs/memory.md says which elements do not)"
               : "ordinary memory, copied by the CPU through page-locked memory, because downstream brought "
                 "a pool of "
                 "its own (docs/memory.md)";
}

}  // namespace

void Reporter::start(bool cuda) {
  cuda_ = cuda;
  said_ = 0;
  const std::lock_guard lock(mutex_);
  posted_ = std::chrono::steady_clock::now();
}

void Reporter::memory(MemoryKind in, MemoryKind out) {
  const unsigned way = 1U << (4 * static_cast<unsigned>(in) + static_cast<unsigned>(out));
  if (said_ & way) return;
  said_ |= way;
  if (!cuda_) {
    GST_INFO_OBJECT(element_, "memory path: frames are filtered where they lie, in system memory");
  } else if (in == MemoryKind::pageable || out == MemoryKind::pageable) {
    GST_WARNING_OBJECT(element_, "memory path: input in %s; output in %s", describe(in, true),
                       describe(out, false));
  } else {
    GST_INFO_OBJECT(element_, "memory path: input in %s; output in %s", describe(in, true),
                    describe(out, false));
  }
}

bool Reporter::frame_out(const Stats& stats, int interval_ms) {
  if (interval_ms <= 0) return false;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - posted_ < std::chrono::milliseconds(interval_ms)) return false;
    posted_ = now;
  }
  auto* structure = stats.structure();
  gst_structure_set_name(structure, "videodenoise");
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), structure));
  return true;
}

}  // namespace quietframe::gst
