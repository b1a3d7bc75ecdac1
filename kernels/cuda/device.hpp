// Which CUDA devices there are, or why none; usable in every build, with or without CUDA.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace quietframe {
class Processor;
}

namespace quietframe::cuda {

struct Device {
  int id;
  std::string name;
  int multiprocessors;
  int compute_major, compute_minor;
  std::size_t memory_bytes;
};

struct Probe {
  std::vector<Device> devices;
  std::string why_none;  ///< one clause, when `devices` is empty: "this build has no CUDA support", "no
                         ///< driver is installed"
  int driver_version = 0, runtime_version = 0;  ///< as CUDA numbers them, 13000 for 13.0; 0: none
};

/// Whether this build can use CUDA at all.
bool built_with_cuda();

/// Asks the driver; never throws, never crashes without one, and creates no context.
Probe probe();

/// A processor on device `id` (-1: the first). Throws Error when it does not exist or cannot be used.
std::unique_ptr<Processor> make_processor(int id);

/// Page-locked memory is made in the primary context of this device from now on; it serves all devices.
void use_host_memory_with(int device);
/// Page-locked host memory that every device can read and write directly; ordinary aligned memory where CUDA
/// is absent. Returns null when `bytes` cannot be had. Slow (a driver call): keep and reuse.
void* host_alloc(std::size_t bytes);
/// Safe from any thread, at any time, also at process exit.
void host_free(void* p) noexcept;
/// Page-locks memory that somebody else allocated, for all devices; false where that cannot be (no CUDA,
/// memory of a device driver, a limit). Takes about a millisecond for 1 or 2 MB. Undone before the memory is
/// freed.
bool host_register(void* p, std::size_t bytes) noexcept;
void host_unregister(void* p) noexcept;
/// Whether host_alloc gives page-locked memory.
bool host_memory_is_pinned();

}  // namespace quietframe::cuda
