// Runs a target over the files of a folder, so that the corpus is an ordinary test with any compiler.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "errors.hpp"
#include "target.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2 || !fs::is_directory(argv[1])) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(argv[1])) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files) {
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // the last line names the file that crashed
    quietframe::cli::fuzz(quietframe::cli::read_file(file));
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
