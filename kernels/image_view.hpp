// Non-owning view of one image plane on the host or on the device; strides are in bytes, as in GstVideoFrame.
#pragma once
#include <cstddef>
#include <type_traits>

#ifdef __CUDACC__
#define QF_HD __host__ __device__
#else
#define QF_HD
#endif

namespace quietframe {

template <class Pixel>
struct ImageView {
  Pixel* data = nullptr;
  int width = 0;              ///< pixels
  int height = 0;             ///< rows
  std::ptrdiff_t stride = 0;  ///< bytes from one row to the next; may be negative

  using Byte = std::conditional_t<std::is_const_v<Pixel>, const std::byte, std::byte>;

  QF_HD Pixel* row(int y) const {
    return reinterpret_cast<Pixel*>(reinterpret_cast<Byte*>(data) + static_cast<std::ptrdiff_t>(y) * stride);
  }
};

template <class Pixel>
QF_HD ImageView<const Pixel> as_const(const ImageView<Pixel>& view) {
  return {view.data, view.width, view.height, view.stride};
}

}  // namespace quietframe
