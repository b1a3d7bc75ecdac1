// The main function of every example: runs it, and turns an exception into a line on stderr and exit
// status 1.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace quietframe::examples {

/// Returns run(argc, argv), or 1 when it threw.
inline int run_main(int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}

}  // namespace quietframe::examples
