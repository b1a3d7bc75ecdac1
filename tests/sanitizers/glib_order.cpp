// What ThreadSanitizer has to be told of GLib and GStreamer, which are not built with it: that a lock's
// holder sees what the one before did, and that the last owner of an object sees what all others did. Linked
// into programs built with -fsanitize=thread, whose definitions the libraries then call.
#include <dlfcn.h>
#include <gst/gst.h>

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

// The definition that this one stands before.
#define QF_NEXT(function) \
  static auto* const next = reinterpret_cast<decltype(&(function))>(dlsym(RTLD_NEXT, #function))

extern "C" {

void g_mutex_lock(GMutex* mutex) {
  QF_NEXT(g_mutex_lock);
  next(mutex);
  __tsan_acquire(mutex);
}

gboolean g_mutex_trylock(GMutex* mutex) {
  QF_NEXT(g_mutex_trylock);
  const gboolean locked = next(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

void g_mutex_unlock(GMutex* mutex) {
  QF_NEXT(g_mutex_unlock);
  __tsan_release(mutex);
  next(mutex);
}

void g_rec_mutex_lock(GRecMutex* mutex) {
  QF_NEXT(g_rec_mutex_lock);
  next(mutex);
  __tsan_acquire(mutex);
}

gboolean g_rec_mutex_trylock(GRecMutex* mutex) {
  QF_NEXT(g_rec_mutex_trylock);
  const gboolean locked = next(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

void g_rec_mutex_unlock(GRecMutex* mutex) {
  QF_NEXT(g_rec_mutex_unlock);
  __tsan_release(mutex);
  next(mutex);
}

void g_cond_wait(GCond* condition, GMutex* mutex) {
  QF_NEXT(g_cond_wait);
  __tsan_release(mutex);
  next(condition, mutex);
  __tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond* condition, GMutex* mutex, gint64 end_time) {
  QF_NEXT(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean signalled = next(condition, mutex, end_time);
  __tsan_acquire(mutex);
  return signalled;
}

void gst_mini_object_unref(GstMiniObject* object) {
  QF_NEXT(gst_mini_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  next(object);
}

// g_object_unref is a macro where GLib checks types.
void(g_object_unref)(gpointer object) {
  QF_NEXT(g_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  next(object);
}

void gst_object_unref(gpointer object) {
  QF_NEXT(gst_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  next(object);
}

}  // extern "C"
