#include "tools/terminal.hpp"

#include <langinfo.h>
#include <locale.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace tidemark::tools {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Asked of a locale of its own: the program's stays "C", whatever the user's is.
bool locale_has_utf8() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const std::string_view charset = ::nl_langinfo_l(CODESET, locale);
  const bool utf8 = charset == "UTF-8" || charset == "utf8";
  ::freelocale(locale);
  return utf8;
}

}  // namespace

std::shared_ptr<TerminalOptions> add_terminal_options(CLI::App& command) {
  auto options = std::make_shared<TerminalOptions>();
  command
      .add_option("--color", options->color,
                  "auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "always", "never"}));
  command.add_flag("--ascii", options->ascii, "draw with ASCII characters alone");
  return options;
}

TerminalFacts terminal_facts() {
  TerminalFacts facts;
  facts.is_terminal = ::isatty(STDOUT_FILENO) != 0;
  facts.no_color = !environment("NO_COLOR").empty() || environment("TERM") == "dumb";
  facts.utf8 = locale_has_utf8();
  return facts;
}

bool shows_colors(const TerminalOptions& options, const TerminalFacts& facts) {
  if (options.color != "auto") return options.color == "always";
  return facts.is_terminal && !facts.no_color;
}

bool shows_unicode(const TerminalOptions& options, const TerminalFacts& facts) {
  return !options.ascii && (!facts.is_terminal || facts.utf8);
}

}  // namespace tidemark::tools
