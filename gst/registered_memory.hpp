// Memory of others that the GPU may read and write in place, because it was page-locked here.
#pragma once
#include <gst/gst.h>

namespace quietframe::gst {

/// Whether the GPU may use `memory`, mapped at `data`, directly. Page-locking takes about as long as copying
/// the memory ten times, so it is done once, for memory that comes back again and again (the buffers of a
/// capture device's or a decoder's pool), and undone when the memory is freed. Only ordinary system memory is
/// locked: of other kinds the address may change with every mapping. Of two blocks that share a page only the
/// first can be locked; the other goes on being copied. Safe from any thread.
bool page_lock_if_it_pays(GstMemory* memory, gpointer data);

/// Bytes that are page-locked so at the moment, of all elements.
guint64 registered_bytes();

}  // namespace quietframe::gst
