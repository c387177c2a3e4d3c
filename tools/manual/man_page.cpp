#include <fmt/format.h>

#include <string_view>

#include "tidemark/version.hpp"
#include "tools/manual/command_tree.hpp"

namespace tidemark::tools {
namespace {

// Roff takes a backslash and a line's first point or quote for its own, and a hyphen for a place to
// break a word.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string example(std::string_view text) { return ".PP\n.nf\n" + roff(text) + "\n.fi\n"; }

std::string synopsis(const ManualCommand& command) {
  std::string line = bold("tidemark " + command.path);
  for (const ManualOption& option : command.options) {
    if (option.names.empty()) line += " " + italic(option.value);
  }
  if (!command.below.empty()) line += " " + italic("TOPIC");
  return line + " [" + italic("OPTION") + "...]\n";
}

std::string options_of_page(const ManualCommand& command) {
  std::string out;
  for (const ManualOption& option : command.options) {
    out += ".TP\n";
    for (std::size_t i = 0; i < option.names.size(); ++i) {
      out += (i > 0 ? ", " : "") + bold(option.names[i]);
    }
    if (!option.value.empty()) out += (option.names.empty() ? "" : " ") + italic(option.value);
    out += '\n' + roff(option.text.empty() ? option.value : option.text) + '\n';
  }
  return out;
}

}  // namespace

std::string manual_page(const std::vector<ManualCommand>& commands) {
  const ManualCommand& whole = commands.front();
  std::string out =
      fmt::format(".TH TIDEMARK 1 \"\" \"tidemark {}\" \"User Commands\"\n", kVersion);
  out += ".SH NAME\ntidemark \\- memory and time of one Transformer training step\n";
  out += ".SH SYNOPSIS\n" + bold("tidemark") + ' ' + italic("COMMAND") + " [" + italic("OPTION") +
         "...]\n";
  out +=
      ".SH DESCRIPTION\n" + roff(whole.text) +
      " A scenario, a YAML file, names a model, a machine and strategies; each is played without a "
      "GPU, operation by operation and allocation by allocation.\n";
  out += options_of_page(whole);
  out += ".SH COMMANDS\n";
  for (const ManualCommand& command : commands) {
    if (command.path.empty()) continue;
    out += ".SS " + roff(command.path) + '\n' + synopsis(command) + ".PP\n" + roff(command.text) +
           ".\n" + options_of_page(command);
    if (!command.footer.empty()) out += example(command.footer);
  }
  out += ".SH EXAMPLES" + std::string("\n") + example(whole.footer);
  out += ".SH ENVIRONMENT\n.TP\n" + bold("NO_COLOR") +
         "\nSet to anything: no colours, unless they are asked for by " + bold("--color always") +
         ".\n";
  return out;
}

}  // namespace tidemark::tools
