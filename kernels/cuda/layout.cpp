// Chooses how a frame lies on the device, so that it crosses the bus in as few and as straight copies as it
// can.
#include "cuda/layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "processor.hpp"

namespace quietframe::cuda {
namespace {

constexpr std::size_t row_alignment = 128;    // a cache line: rows of the device's own layout begin on one
constexpr std::size_t plane_alignment = 256;  // cudaMalloc's
constexpr std::size_t vector_bytes = 16;      // widest load of a kernel
constexpr std::size_t spare_rows = 32;        // of decoders and of GStreamer, which round heights up

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

std::size_t extent(const FrameLayout::Plane& p) {
  return p.rows == 0
             ? 0
             : static_cast<std::size_t>(p.rows - 1) * static_cast<std::size_t>(std::abs(p.host_stride)) +
                   static_cast<std::size_t>(p.row_bytes);
}

const std::byte* lowest_byte(const Frame& frame, const FrameLayout::Plane& p, int index) {
  return p.host_stride >= 0 ? frame.plane[index] : frame.plane[index] + (p.rows - 1) * p.host_stride;
}

// Lets the device copy mirror host memory where that is allowed and kernels find aligned rows in it.
bool mirror(const Frame& frame, std::size_t capacity, Padding padding, FrameLayout& l) {
  const std::byte *low = lowest_byte(frame, l.plane[0], 0), *high = low;
  std::size_t payload = 0;
  for (int i = 0; i < l.planes; ++i) {
    const auto& p = l.plane[i];
    const auto* first = lowest_byte(frame, p, i);
    if (first < low) low = first, l.lowest = i;
    high = std::max(high, first + extent(p));
    payload += static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.row_bytes);
  }
  const auto span = static_cast<std::size_t>(high - low);
  if (span > capacity || span > payload + payload / 4) return false;
  if (span != payload && padding == Padding::keep) return false;
  for (int i = 0; i < l.planes; ++i) {
    auto& p = l.plane[i];
    p.device_offset = static_cast<std::size_t>(lowest_byte(frame, p, i) - low);
    p.device_stride = p.host_stride;
    const bool aligned = p.host_stride % static_cast<std::ptrdiff_t>(vector_bytes) == 0 || p.rows == 1;
    if (!aligned || p.device_offset % vector_bytes != 0) return false;
  }
  l.one_copy = true;
  l.bytes = span;
  return true;
}

}  // namespace

FrameLayout layout_of(const Frame& frame, std::size_t capacity, Padding padding) {
  const auto& info = format_info(frame.format.format);
  FrameLayout l;
  l.planes = info.planes;
  for (int i = 0; i < l.planes; ++i) {
    auto& p = l.plane[i];
    const auto size = plane_size(info, i, frame.format.width, frame.format.height);
    p.rows = size.rows;
    p.row_bytes = size.row_bytes;
    p.host_stride = frame.stride[i];
    if (!frame.plane[i] || (std::abs(p.host_stride) < p.row_bytes && p.rows > 1))
      throw Error(std::string("plane ") + std::to_string(i) + " of a " + info.name + " frame has " +
                  (frame.plane[i] ? "a stride of " + std::to_string(p.host_stride) +
                                        " bytes, less than its rows' " + std::to_string(p.row_bytes)
                                  : std::string("no memory")));
  }
  if (mirror(frame, capacity, padding, l)) return l;
  l.lowest = 0;
  std::size_t offset = 0;
  for (int i = 0; i < l.planes; ++i) {
    auto& p = l.plane[i];
    const bool packed = std::abs(p.host_stride) == p.row_bytes && p.row_bytes % vector_bytes == 0;
    const auto pitch = packed ? static_cast<std::size_t>(p.row_bytes)
                              : round_up(static_cast<std::size_t>(p.row_bytes), row_alignment);
    p.device_stride = static_cast<std::ptrdiff_t>(pitch) * (p.host_stride < 0 ? -1 : 1);
    p.device_offset = offset;
    offset = round_up(offset + pitch * static_cast<std::size_t>(p.rows), plane_alignment);
  }
  l.bytes = offset;
  return l;
}

std::size_t device_capacity(const FrameFormat& format) {
  const auto& info = format_info(format.format);
  std::size_t bytes = 0;
  for (int i = 0; i < info.planes; ++i) {
    const auto size = plane_size(info, i, format.width, format.height);
    const auto pitch = round_up(static_cast<std::size_t>(size.row_bytes), row_alignment);
    bytes += round_up(pitch * (static_cast<std::size_t>(size.rows) + spare_rows), plane_alignment);
  }
  return bytes;
}

int copies_of(const FrameLayout& l, const Frame& host, std::byte* device, CopyKind kind,
              std::span<Copy, max_planes> copies) {
  auto directed = [&](std::byte* d, const std::byte* h, Copy c) {
    c.kind = kind;
    c.to = kind == CopyKind::download ? const_cast<std::byte*>(h) : d;
    c.from = kind == CopyKind::download ? d : h;
    if (kind == CopyKind::download) std::swap(c.to_pitch, c.from_pitch);
    return c;
  };
  if (l.one_copy) {
    Copy c;
    c.row_bytes = l.bytes;
    copies[0] = directed(device, lowest_byte(host, l.plane[l.lowest], l.lowest), c);
    return 1;
  }
  for (int i = 0; i < l.planes; ++i) {
    const auto& p = l.plane[i];
    Copy c;
    c.row_bytes = static_cast<std::size_t>(p.row_bytes);
    c.rows = static_cast<std::size_t>(p.rows);
    c.to_pitch = static_cast<std::size_t>(std::abs(p.device_stride));
    c.from_pitch = static_cast<std::size_t>(std::abs(p.host_stride));
    if (c.to_pitch == c.row_bytes && c.from_pitch == c.row_bytes) {
      c.row_bytes *= c.rows;
      c.rows = 1;
    }
    copies[i] = directed(device + p.device_offset, lowest_byte(host, p, i), c);
  }
  return l.planes;
}

Frame device_frame(const FrameLayout& l, const FrameFormat& format, std::byte* device) {
  Frame f{format, {}, {}, MemoryKind::device};
  for (int i = 0; i < l.planes; ++i) {
    const auto& p = l.plane[i];
    f.stride[i] = p.device_stride;
    f.plane[i] = device + p.device_offset + (p.device_stride < 0 ? (1 - p.rows) * p.device_stride : 0);
  }
  return f;
}

}  // namespace quietframe::cuda
