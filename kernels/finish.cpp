// Finishing on the CPU, and the checks that both backends make.
#include "finish.hpp"

#include <string>

#include "processor.hpp"

namespace quietframe {

void check_mask(const Mask& mask, const FrameFormat& format) {
  if (mask.width == format.width && mask.height == format.height) return;
  throw Error("The mask has " + std::to_string(mask.width) + "x" + std::to_string(mask.height) +
              " pixels, the frames have " + std::to_string(format.width) + "x" +
              std::to_string(format.height) + ". Give a mask of the frames' size, or none.");
}

Finish finish_of(const FrameFormat& format, int group, const Region& region, Preview preview,
                 const std::uint8_t* mask) {
  const auto& info = format_info(format.format).group[static_cast<std::size_t>(group)];
  const auto view = group_view(Frame{format, {}, {}, MemoryKind::pageable}, group);
  Finish f;
  f.region = region;
  f.mask = mask;
  f.frame_width = format.width;
  f.frame_height = format.height;
  f.left = preview == Preview::split ? format.width / 2 : 0;
  f.sub_x = info.sub_x;
  f.sub_y = info.sub_y;
  f.preview = preview;
  f.chroma = info.chroma;
  f.shift = view.shift;
  f.max_code = view.max_code;
  return f;
}

void finish_rows(const Finish& f, const GroupView& in, const GroupView& out, int begin, int end) {
  with_sample_type(in.type, [&]<SampleType S>() {
    for (int c = 0; c < in.channels; ++c)
      for (int y = begin; y < end; ++y) {
        const std::byte* from = in.channel[c] + y * in.stride[c];
        std::byte* to = out.channel[c] + y * out.stride[c];
        for (int x = 0; x < in.width; ++x)
          finish_sample<S>(f, from + std::ptrdiff_t{x} * in.step, to + std::ptrdiff_t{x} * out.step, x, y);
      }
  });
}

}  // namespace quietframe
