// The host allocator: GstMemory over blocks that are kept by size when they are freed.
#include "allocator.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/device.hpp"
#include "debug.hpp"

namespace quietframe::gst {
namespace {

constexpr gsize natural_alignment = 64;
constexpr gsize block_granule = 4096;
constexpr gsize cache_limit = gsize{256} << 20;  ///< bytes kept; a 4K P010 frame is 24 MiB

struct Block {
  std::byte* data = nullptr;
  gsize size = 0;
  bool pinned = false;
};

// Blocks of one kind. Never destroyed: the last GstMemory may be freed by another library's exit handler.
class BlockStore {
 public:
  explicit BlockStore(HostMemoryKind kind) : kind_(kind) {}

  Block take(gsize bytes) {
    const gsize size = (bytes + block_granule - 1) / block_granule * block_granule;
    {
      const std::lock_guard lock(mutex_);
      if (auto it = free_.find(size); it != free_.end() && !it->second.empty()) {
        const Block block = it->second.back();
        it->second.pop_back();
        cached_bytes_ -= size;
        --cached_;
        return block;
      }
      ++from_system_;
    }
    return from_system(size);
  }

  void give(const Block& block) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (users_ > 0 && cached_bytes_ + block.size <= cache_limit) {
        free_[block.size].push_back(block);
        cached_bytes_ += block.size;
        ++cached_;
        return;
      }
    }
    to_system(block);
  }

  void use() {
    const std::lock_guard lock(mutex_);
    ++users_;
  }

  void unuse() {
    std::map<gsize, std::vector<Block>> blocks;
    {
      const std::lock_guard lock(mutex_);
      if (--users_ > 0) return;
      blocks.swap(free_);
      cached_bytes_ = 0;
      cached_ = 0;
    }
    for (const auto& [size, list] : blocks)
      for (const auto& block : list) to_system(block);
  }

  AllocatorCounts counts() {
    const std::lock_guard lock(mutex_);
    return {from_system_, cached_};
  }

 private:
  Block from_system(gsize size) {
    if (kind_ == HostMemoryKind::pinned && cuda::host_memory_is_pinned()) {
      if (auto* p = static_cast<std::byte*>(cuda::host_alloc(size))) return {p, size, true};
      warn_unpinned(size);
    }
    return {static_cast<std::byte*>(std::aligned_alloc(natural_alignment, size)), size, false};
  }

  static void to_system(const Block& block) noexcept {
    if (block.pinned)
      cuda::host_free(block.data);
    else
      std::free(block.data);
  }

  void warn_unpinned(gsize size) {
    const std::lock_guard lock(mutex_);
    if (warned_) return;
    warned_ = true;
    GST_WARNING("%" G_GSIZE_FORMAT
                " bytes of page-locked memory were refused (check ulimit -l and the container's limits); "
                "frames are copied through a staging ring instead",
                size);
  }

  const HostMemoryKind kind_;
  std::mutex mutex_;
  std::map<gsize, std::vector<Block>> free_;
  gsize cached_bytes_ = 0;
  guint64 cached_ = 0, from_system_ = 0;
  int users_ = 0;
  bool warned_ = false;
};

struct HostMemory {
  GstMemory base;
  std::byte* data;  ///< aligned start within the block
  Block block;      ///< owned unless base.parent is set
};

struct QuietframeHostAllocator {
  GstAllocator parent;
  BlockStore* store;
};
struct QuietframeHostAllocatorClass {
  GstAllocatorClass parent;
};

constexpr char memory_type[] = "QuietframeHostMemory";

GType quietframe_host_allocator_get_type();
G_DEFINE_TYPE(QuietframeHostAllocator, quietframe_host_allocator, GST_TYPE_ALLOCATOR)

HostMemory* host_memory(GstMemory* memory) { return reinterpret_cast<HostMemory*>(memory); }

GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  const gsize align = params->align | gst_memory_alignment | (natural_alignment - 1);
  const gsize slack = align >= natural_alignment ? align + 1 - natural_alignment : 0;
  const gsize maxsize = size + params->prefix + params->padding;
  if (maxsize < size || maxsize + slack + block_granule < maxsize) return nullptr;
  const Block block = reinterpret_cast<QuietframeHostAllocator*>(allocator)->store->take(maxsize + slack);
  if (!block.data) return nullptr;
  auto* memory = g_new0(HostMemory, 1);
  memory->block = block;
  const auto begin = reinterpret_cast<std::uintptr_t>(block.data);
  memory->data = block.data + (((begin + align) & ~align) - begin);
  gst_memory_init(&memory->base, params->flags, allocator, nullptr, maxsize, align, params->prefix, size);
  if (params->prefix && (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED))
    std::memset(memory->data, 0, params->prefix);
  if (params->padding && (params->flags & GST_MEMORY_FLAG_ZERO_PADDED))
    std::memset(memory->data + params->prefix + size, 0, params->padding);
  return &memory->base;
}

void release(GstAllocator* allocator, GstMemory* memory) {
  auto* host = host_memory(memory);
  if (!memory->parent) reinterpret_cast<QuietframeHostAllocator*>(allocator)->store->give(host->block);
  g_free(host);
}

gpointer map(GstMemory* memory, gsize, GstMapFlags) { return host_memory(memory)->data; }
void unmap(GstMemory*) {}

GstMemory* share(GstMemory* memory, gssize offset, gssize size) {
  auto* host = host_memory(memory);
  auto* whole = memory->parent ? memory->parent : memory;
  auto* shared = g_new0(HostMemory, 1);
  shared->data = host->data;
  shared->block = host->block;
  const gsize length = size < 0 ? memory->size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  gst_memory_init(
      &shared->base,
      static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(whole) | GST_MINI_OBJECT_FLAG_LOCK_READONLY),
      memory->allocator, whole, memory->maxsize, memory->align, memory->offset + static_cast<gsize>(offset),
      length);
  return &shared->base;
}

gboolean is_span(GstMemory* a, GstMemory* b, gsize* offset) {
  auto* first = host_memory(a);
  if (offset) *offset = a->offset - (a->parent ? a->parent->offset : 0);
  return first->data + a->offset + a->size == host_memory(b)->data + b->offset;
}

void quietframe_host_allocator_init(QuietframeHostAllocator* self) {
  auto* base = GST_ALLOCATOR(self);
  base->mem_type = memory_type;
  base->mem_map = map;
  base->mem_unmap = unmap;
  base->mem_share = share;
  base->mem_is_span = is_span;
}

void quietframe_host_allocator_class_init(QuietframeHostAllocatorClass* klass) {
  klass->parent.alloc = allocate;
  klass->parent.free = release;
}

GstAllocator* make_allocator(HostMemoryKind kind) {
  auto* self =
      static_cast<QuietframeHostAllocator*>(g_object_new(quietframe_host_allocator_get_type(), nullptr));
  self->store = new BlockStore(kind);
  GST_OBJECT_FLAG_SET(self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return GST_ALLOCATOR(gst_object_ref_sink(self));
}

}  // namespace

GstAllocator* host_allocator(HostMemoryKind kind) {
  static GstAllocator* const ordinary = make_allocator(HostMemoryKind::ordinary);
  static GstAllocator* const pinned = make_allocator(HostMemoryKind::pinned);
  return GST_ALLOCATOR(gst_object_ref(kind == HostMemoryKind::pinned ? pinned : ordinary));
}

bool is_pinned(const GstMemory* memory) {
  return memory->allocator && memory->allocator->mem_type == memory_type &&
         reinterpret_cast<const HostMemory*>(memory)->block.pinned;
}

AllocatorCounts host_allocator_counts(GstAllocator* allocator) {
  return reinterpret_cast<QuietframeHostAllocator*>(allocator)->store->counts();
}
void host_allocator_use(GstAllocator* allocator) {
  reinterpret_cast<QuietframeHostAllocator*>(allocator)->store->use();
}
void host_allocator_unuse(GstAllocator* allocator) {
  reinterpret_cast<QuietframeHostAllocator*>(allocator)->store->unuse();
}

}  // namespace quietframe::gst
