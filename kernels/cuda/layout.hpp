// Where a frame's planes stand in host memory and in its copy on the device, and the copies between the two.
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "cuda/runtime.hpp"
#include "pixel_format.hpp"

namespace quietframe::cuda {

/// The shape of a frame's memory, addresses aside: frames of equal layout differ in base addresses alone.
///
/// A copy costs a graph node, and one-dimensional copies run at full bus speed at any size, so the device
/// copy mirrors the host's own strides and plane offsets wherever they suit kernels (multiples of 16 bytes)
/// and the planes lie close together: then one copy carries the frame. Otherwise each plane is copied by
/// itself.
struct FrameLayout {
  struct Plane {
    int rows = 0;
    std::ptrdiff_t row_bytes = 0;
    std::ptrdiff_t host_stride = 0, device_stride = 0;  ///< of equal sign
    std::size_t device_offset = 0;                      ///< of the plane's lowest byte in the device copy
    bool operator==(const Plane&) const = default;
  };
  std::array<Plane, max_planes> plane{};
  int planes = 0;
  int lowest = 0;         ///< the plane with the lowest address
  bool one_copy = false;  ///< the device copy mirrors the host's memory
  std::size_t bytes = 0;  ///< of the device copy, from its base

  int copies() const { return one_copy ? 1 : planes; }
  bool operator==(const FrameLayout&) const = default;
};

enum class Padding { keep, may_write };

/// `padding` says whether bytes between rows and planes may be overwritten by a download (uploads:
/// may_write). `capacity` is the most bytes the device copy may take (device_capacity). Throws Error when a
/// stride is smaller than a row.
FrameLayout layout_of(const Frame& frame, std::size_t capacity, Padding padding);

/// Bytes of device memory that hold any layout of this format that layout_of makes.
std::size_t device_capacity(const FrameFormat& format);

/// The copies that carry `host` (of this layout) to or from `device`; returns how many were written.
int copies_of(const FrameLayout& layout, const Frame& host, std::byte* device, CopyKind kind,
              std::span<Copy, max_planes> copies);

/// The copy on the device as a frame.
Frame device_frame(const FrameLayout& layout, const FrameFormat& format, std::byte* device);

}  // namespace quietframe::cuda
