// The way from libFuzzer to a target.
#include <cstddef>
#include <cstdint>
#include <span>

#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  quietframe::cli::fuzz(std::as_bytes(std::span(data, size)));
  return 0;
}
