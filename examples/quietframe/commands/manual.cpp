// quietframe completion and manual: written from the same table of commands and flags that is parsed.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "formats/codec.hpp"

namespace quietframe::cli {
namespace {

std::string flags_of(const CLI::App& app) {
  std::string all;
  for (const auto* o : app.get_options())
    for (const auto& name : o->get_lnames()) all += " --" + name;
  return all;
}

// The choices of an option whose type is written as a|b|c.
std::string choices_of(const CLI::Option& o) {
  auto type = o.get_type_name();
  if (type.find('|') == std::string::npos) return {};
  std::ranges::replace(type, '|', ' ');
  return type;
}

void print_cases(const CLI::App& app) {
  for (const auto* o : app.get_options()) {
    auto values = choices_of(*o);
    if (o->get_lnames() == std::vector<std::string>{"filter"}) {
      for (const auto& f : all_filters()) values += fmt::format(" {}", f.name);
      values += " none";
    }
    if (!values.empty())
      fmt::print("        {}/--{}) words=\"{}\" ;;\n", app.get_name(), o->get_lnames().front(), values);
  }
}

ExitCode print_completion() {
  CommandLine line;
  std::string commands;
  for (const auto& c : all_commands) commands += fmt::format(" {}", c.name);
  fmt::print(
      "# bash completion for quietframe, as printed by: quietframe completion\n"
      "_quietframe() {{\n"
      "    local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\" "
      "command=\"${{COMP_WORDS[1]}}\" words=\"\"\n"
      "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "        COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n"
      "        return\n"
      "    fi\n"
      "    case \"$command/$previous\" in\n",
      commands.substr(1));
  for (const auto* sub : line.app().get_subcommands({})) print_cases(*sub);
  fmt::print(
      "    esac\n"
      "    if [ -z \"$words\" ] && [[ \"$current\" == -* ]]; then\n"
      "        case \"$command\" in\n");
  for (const auto* sub : line.app().get_subcommands({}))
    fmt::print("            {}) words=\"{}\" ;;\n", sub->get_name(), flags_of(*sub).substr(1));
  fmt::print(
      "        esac\n"
      "    fi\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o bashdefault -o default -F _quietframe quietframe\n");
  return ExitCode::ok;
}

// What troff would take for its own.
std::string escaped(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\' || c == '-') out += '\\';
    out += c;
    if (c == '\n') out += ".br\n";
    line_start = c == '\n';
  }
  return out;
}

void print_options(const CLI::App& app) {
  for (const auto* o : app.get_options()) {
    const auto type = o->get_type_name();
    const auto initial = o->get_default_str();
    fmt::print(".TP\n.B {}\n", escaped(o->get_name(false, true) + (type.empty() ? "" : " " + type)));
    fmt::print("{}{}\n", escaped(o->get_description()),
               initial.empty() ? "" : escaped(fmt::format(" (default: {})", initial)));
  }
}

ExitCode print_manual() {
  CommandLine line;
  fmt::print(
      ".TH QUIETFRAME 1 \"\" \"quietframe {}\" \"User Commands\"\n.SH NAME\nquietframe \\- denoise, make, "
      "measure and compare "
      "pictures and clips\n.SH SYNOPSIS\n.B quietframe\n.I COMMAND\n[options]\n.SH DESCRIPTION\nThe filters "
      "of the GStreamer "
      "element videodenoise on files: what it prints is what the element does.\n.SH COMMANDS\n",
      QF_VERSION);
  for (const auto& c : all_commands) {
    const auto* sub = line.app().get_subcommand(c.name);
    fmt::print(".SS {}\n{}.\n{}\n", escaped(c.name), escaped(c.blurb), escaped(c.details));
    print_options(*sub);
  }
  fmt::print(".SH FORMATS\n");
  for (const auto& c : all_codecs()) fmt::print(".TP\n.B {}\n{}\n", escaped(c.name), escaped(c.what));
  fmt::print(".SH EXIT STATUS\n");
  for (const auto& e : exit_codes)
    fmt::print(".TP\n.B {}\n{}\n", static_cast<int>(e.code), escaped(e.meaning));
  return ExitCode::ok;
}

}  // namespace

Run make_completion(CLI::App&) { return print_completion; }

Run make_manual(CLI::App&) { return print_manual; }

}  // namespace quietframe::cli
