// Counts how often memory comes, and page-locks what comes often.
#include "registered_memory.hpp"

#include <atomic>
#include <mutex>

#include "cuda/device.hpp"
#include "debug.hpp"

namespace quietframe::gst {
namespace {

constexpr int often = 4;  // memory that came so often is from a pool, and will come hundreds of times
constexpr gsize least_size = 64 << 10;      // smaller frames are copied faster than they are asked about
constexpr guint64 most_bytes = 512U << 20;  // page-locked memory is taken from everybody

std::mutex sightings_mutex;
std::atomic<guint64> locked_bytes{0};

// What is known of one GstMemory; freed with it, before its bytes are.
struct Sightings {
  gpointer data = nullptr;
  gsize size = 0;
  int seen = 0;
  bool locked = false;

  ~Sightings() {
    if (!locked) return;
    cuda::host_unregister(data);
    locked_bytes -= size;
  }
};

GQuark quark() {
  static const GQuark q = g_quark_from_static_string("quietframe-sightings");
  return q;
}

void lock(Sightings& s, const GstMemory* memory) {
  s.size = memory->maxsize;
  if (locked_bytes + s.size > most_bytes) return;
  s.locked = cuda::host_register(s.data, s.size);
  if (s.locked) locked_bytes += s.size;
  GST_DEBUG("%" G_GSIZE_FORMAT " bytes at %p came %d times: %s", s.size, s.data, s.seen,
            s.locked ? "page-locked" : "they cannot be page-locked and are copied");
}

}  // namespace

bool page_lock_if_it_pays(GstMemory* memory, gpointer data) {
  if (memory->parent || memory->maxsize < least_size || !gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM))
    return false;
  const std::lock_guard guard(sightings_mutex);
  auto* object = GST_MINI_OBJECT_CAST(memory);
  auto* s = static_cast<Sightings*>(gst_mini_object_get_qdata(object, quark()));
  if (!s) {
    s = new Sightings;
    s->data = static_cast<guint8*>(data) - memory->offset;
    gst_mini_object_set_qdata(object, quark(), s, [](gpointer p) { delete static_cast<Sightings*>(p); });
  }
  if (s->seen < often && ++s->seen == often) lock(*s, memory);
  return s->locked;
}

guint64 registered_bytes() { return locked_bytes; }

}  // namespace quietframe::gst
