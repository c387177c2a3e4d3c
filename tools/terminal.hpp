#pragma once
// What standard output can show: colours, and characters beyond ASCII. Where it is not a terminal
// nothing depends on the environment, so that files and pipes always get the same bytes.

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace tidemark::tools {

struct TerminalOptions {
  std::string color = "auto";
  bool ascii = false;
};

// Adds --color and --ascii. The result is filled when the line is read.
std::shared_ptr<TerminalOptions> add_terminal_options(CLI::App& command);

// What decides beside the options; of this process, unless a test says otherwise.
struct TerminalFacts {
  bool is_terminal = false;  // standard output
  bool no_color = false;     // NO_COLOR is set to something (no-color.org), or TERM is "dumb"
  bool utf8 = true;          // the charset of the user's locale
};
TerminalFacts terminal_facts();

// auto: on a terminal, unless NO_COLOR is set.
bool shows_colors(const TerminalOptions& options, const TerminalFacts& facts);
// Unless --ascii is given or a terminal has another charset than UTF-8.
bool shows_unicode(const TerminalOptions& options, const TerminalFacts& facts);

}  // namespace tidemark::tools
