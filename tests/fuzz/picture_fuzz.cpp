// Fuzzes the way of a still picture of any format from its bytes to a frame and back, libraries' readers
// included.
#include "errors.hpp"
#include "formats/codec.hpp"
#include "target.hpp"

namespace quietframe::cli {

void fuzz(Bytes input) {
  try {
    const auto picture = decode_picture(input);
    if (picture.samples() > 1'000'000) return;
    for (const auto& codec : all_codecs())
      if (codec.encode) {
        try {
          codec.encode(picture, std::string_view(codec.extensions).substr(0, 3));
        } catch (const FileError&) {  // the format has no place for this picture
        }
      }
  } catch (const FileError&) {
  }
}

}  // namespace quietframe::cli
