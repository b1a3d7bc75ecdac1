// What can go wrong on the command line, and the exit code that says so.
#pragma once
#include <stdexcept>
#include <string>

#include "processor.hpp"

namespace quietframe::cli {

enum class ExitCode : int { ok = 0, some_failed = 1, usage = 2, file = 3, backend = 4, internal = 5 };

struct ExitCodeInfo {
  ExitCode code;
  const char* meaning;
};

/// For --help and the manual.
inline constexpr ExitCodeInfo exit_codes[] = {
    {ExitCode::ok, "everything that was asked for was done"},
    {ExitCode::some_failed,
     "of several files some failed; each has a line on the error output, the rest is done"},
    {ExitCode::usage, "the command line makes no sense; nothing was done"},
    {ExitCode::file, "a file cannot be read, decoded or written"},
    {ExitCode::backend, "the backend that was asked for cannot be used, or failed"},
    {ExitCode::internal, "memory ran out, or a fault of quietframe"},
};

/// The command line asks for something that cannot be.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file cannot be read, decoded or written. The message does not name the file: whoever knows it adds it.
class FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace quietframe::cli
