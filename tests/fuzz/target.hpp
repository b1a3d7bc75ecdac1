// A fuzz target: takes any bytes, and must neither crash nor throw.
#pragma once
#include "formats/codec.hpp"

namespace quietframe::cli {

void fuzz(Bytes input);

}  // namespace quietframe::cli
