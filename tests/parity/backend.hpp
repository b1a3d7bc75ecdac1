// The backend under test, which the command line of parity-test chooses.
#pragma once
#include "processor.hpp"

namespace quietframe::test {

inline BackendRequest request{BackendChoice::cpu, -1, 2};

}  // namespace quietframe::test
