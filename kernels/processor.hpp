// The one seam between whoever has frames (the element, the command line) and the backends that filter them.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "filter.hpp"
#include "pixel_format.hpp"
#include "settings.hpp"

namespace quietframe {

/// A failure that the user can act on: what failed, and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How the samples of frames travelled; the slowest path that any plane took.
enum class MemoryPath : std::uint8_t {
  host,    ///< filtered where they lie (CPU backend)
  device,  ///< device memory on both sides: nothing crossed the bus
  direct,  ///< the GPU read or wrote the caller's pinned memory itself
  staged,  ///< copied by the CPU through a pinned ring
};
const char* to_string(MemoryPath path);

/// What became of one frame.
struct FrameReport {
  std::array<std::array<float, max_channels>, max_groups>
      sigma{};                                          ///< noise sigma used, levels; negative: none was
  float upload_us = 0, kernel_us = 0, download_us = 0;  ///< 0 where timing is off or there is no such step
  std::uint64_t cpu_copied_bytes = 0;                   ///< copied by the CPU into and out of staging memory
  MemoryPath path = MemoryPath::host;
};

struct ProcessorInfo {
  const char* backend;  ///< "cpu" or "cuda"
  std::string device;   ///< for people: "16 threads", "NVIDIA H200 (device 0)"
};

/// Filters frames, several in flight, each the moment it can; results come back in the order of submission.
///
/// Threads: one thread calls configure, submit and drain; another may call wait meanwhile, and a third
/// wait_input. Memory named by a Frame stays valid until wait (or, for the input of a frame, wait_input) has
/// returned for it.
class Processor {
 public:
  virtual ~Processor() = default;

  virtual ProcessorInfo info() const = 0;

  /// Makes room for `slots` frames in flight (1..16) of this format; drains first. Allocates, so never per
  /// frame. Throws Error; the processor is then unconfigured, and configure may be called again.
  virtual void configure(const FrameFormat& format, int slots) = 0;

  /// Starts one frame and returns at once. At most `slots` frames may be submitted and not yet waited for.
  /// `in` and `out` have the configured format and do not overlap. Returns the frame's number, counting from
  /// 0.
  virtual std::uint64_t submit(const Frame& in, const Frame& out, const FrameSettings& settings) = 0;

  /// Returns when the input memory of `frame`, not yet waited for, will not be read any more. Never throws.
  virtual void wait_input(std::uint64_t frame) = 0;

  /// Returns when the output of `frame` is complete. Frames are waited for in order, each once. Throws Error
  /// if it failed; the frames after it can still be waited for.
  virtual FrameReport wait(std::uint64_t frame) = 0;

  /// Returns when nothing is in flight any more. Reports that were not waited for are dropped.
  virtual void drain() = 0;

  /// Measures upload, kernel and download times from now on (costs the CUDA backend a few microseconds a
  /// frame).
  virtual void set_timing(bool on) = 0;
};

enum class BackendChoice : int { automatic, cuda, cpu };

inline constexpr Choice backend_choices[] = {
    {"auto", "CUDA where a device can be used, else the CPU; says why"},
    {"cuda", "An NVIDIA GPU; an error where there is none"},
    {"cpu", "The CPU"},
};

struct BackendRequest {
  BackendChoice choice = BackendChoice::automatic;
  int cuda_device = -1;  ///< -1: the first
  int threads = 0;       ///< of the CPU backend; 0: one per CPU
};

struct SelectedBackend {
  std::unique_ptr<Processor> processor;
  std::string reason;  ///< one sentence: which backend, and for `automatic` why
};

/// Throws Error that says what is missing when the request cannot be met.
SelectedBackend select_backend(const BackendRequest& request);

/// Which of a filter's two CPU programs runs.
enum class CpuProgram {
  fastest,
  definition,  ///< what every other program and backend is checked against
};

std::unique_ptr<Processor> make_cpu_processor(int threads, CpuProgram program = CpuProgram::fastest);

}  // namespace quietframe
