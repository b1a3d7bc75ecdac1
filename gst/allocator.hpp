// Host memory for frames: page-locked where the GPU is to read and write it itself, with a free list, because
// page-locking is slow. Memory may outlive the element, its pool and the pipeline.
#pragma once
#include <gst/gst.h>

namespace quietframe::gst {

enum class HostMemoryKind {
  ordinary,  ///< 64-byte aligned
  pinned,    ///< page-locked where the build and the machine can; falls back to ordinary with one warning
};

/// The process-wide allocator of one kind; a new reference.
GstAllocator* host_allocator(HostMemoryKind kind);

/// Whether the GPU may read and write `memory` in place: ours, and page-locked.
bool is_pinned(const GstMemory* memory);

/// How many blocks came from the system since the process started, and how many are kept for reuse. For tests
/// and statistics.
struct AllocatorCounts {
  guint64 system_allocations;
  guint64 cached_blocks;
};
AllocatorCounts host_allocator_counts(GstAllocator* allocator);

/// While an element runs, freed blocks are kept for reuse; when the last one stops, they go back to the
/// system.
void host_allocator_use(GstAllocator* allocator);
void host_allocator_unuse(GstAllocator* allocator);

}  // namespace quietframe::gst
