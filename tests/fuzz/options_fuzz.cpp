// Fuzzes the option parser: the words of a command line, each ended by a newline, through every command's
// flags.
#include <algorithm>

#include "command.hpp"
#include "target.hpp"

namespace quietframe::cli {

void fuzz(Bytes input) {
  std::vector<std::string> words;
  std::string_view rest = head_text(input, input.size());
  while (!rest.empty() && words.size() < 64) {
    const auto end = std::min(rest.find('\n'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::ranges::reverse(words);
  CommandLine line;
  try {
    line.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) line.app().help();
  }
}

}  // namespace quietframe::cli
