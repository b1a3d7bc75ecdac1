// Fuzzes the reader of Y4M clips; a header that it takes must mean the same after being written again.
#include <cstdlib>

#include "clip.hpp"
#include "errors.hpp"
#include "target.hpp"

namespace quietframe::cli {

void fuzz(Bytes input) {
  try {
    const auto text = head_text(input, input.size());
    const auto info = parse_y4m_header(std::string(text.substr(0, text.find('\n'))));
    const auto again = parse_y4m_header(y4m_header(info));
    if (!(again.format == info.format) || again.rate_num != info.rate_num || again.rate_den != info.rate_den)
      std::abort();
    count_y4m_frames(input);
  } catch (const FileError&) {
  }
}

}  // namespace quietframe::cli
