// What this process uses: CPU time, memory, threads.
#pragma once
#include <sys/resource.h>

#include <fstream>
#include <string>

namespace quietframe::examples {

struct ProcessUse {
  double cpu_seconds = 0;  ///< user and system, all threads
  double resident_mib = 0;
  int threads = 0;
};

inline ProcessUse process_use() {
  ProcessUse use;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  use.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      status >> use.resident_mib;  // kB
      use.resident_mib /= 1024;
    } else if (word == "Threads:") {
      status >> use.threads;
    }
  }
  return use;
}

}  // namespace quietframe::examples
