// Fuzzes the reader of PBM, PGM, PPM, PAM and PFM; what it takes must survive being written and read again.
#include <cstdlib>

#include "errors.hpp"
#include "formats/codec.hpp"
#include "target.hpp"

namespace quietframe::cli {

void fuzz(Bytes input) {
  if (!pnm::matches(input)) return;
  Picture picture;
  try {
    picture = pnm::decode(input);
  } catch (const FileError&) {
    return;
  }
  const char* extension = !picture.is_float() ? "pam" : picture.has_alpha() ? nullptr : "pfm";
  if (!extension) std::abort();  // PFM has no alpha to read
  const auto again = pnm::decode(pnm::encode(picture, extension));
  if (again.width != picture.width || again.height != picture.height || again.channels != picture.channels ||
      again.max_code != picture.max_code || again.data != picture.data)
    std::abort();
}

}  // namespace quietframe::cli
