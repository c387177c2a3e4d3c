#pragma once
// What the command line understands, as plain data read off CLI11's App: the manual page and the
// shells' completions are made from it, so that they cannot forget an option.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tidemark::tools {

struct ManualOption {
  std::vector<std::string> names;  // "-h", "--help"; empty: a positional argument
  std::string value;               // what its value is called: "FILE"; empty: it takes none
  std::string text;
  std::vector<std::string> choices;  // empty: anything
  bool is_file = false;              // its value is a file
  bool is_list = false;              // its value is several of them, separated by commas
};

struct ManualCommand {
  std::string path;  // "list models"; empty: tidemark itself
  std::string text;
  std::string footer;
  std::vector<ManualOption> options;  // in the order of its help
  std::vector<std::string> below;     // names of its own commands
};

// Every command that help shows, those below right after their own, tidemark itself first.
std::vector<ManualCommand> command_tree(const CLI::App& app);

// A page for man, in roff.
std::string manual_page(const std::vector<ManualCommand>& commands);

std::string bash_completion(const std::vector<ManualCommand>& commands);
std::string zsh_completion(const std::vector<ManualCommand>& commands);
std::string fish_completion(const std::vector<ManualCommand>& commands);

}  // namespace tidemark::tools
