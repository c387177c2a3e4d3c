#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <array>
#include <string>
#include <vector>

#include "tools/commands/command.hpp"
#include "tools/manual/command_tree.hpp"
#include "tools/output.hpp"

namespace tidemark::tools {

AddCommand add_completion, add_man;

namespace {

struct Shell {
  const char* name;
  const char* summary;
  std::string (*script)(const std::vector<ManualCommand>&);
};

constexpr auto kShells = std::to_array<Shell>({
    {"bash", "source <(tidemark completion bash)", bash_completion},
    {"zsh", "tidemark completion zsh > a folder of $fpath, as _tidemark", zsh_completion},
    {"fish", "tidemark completion fish | source", fish_completion},
});

}  // namespace

// `app` is whole by the time that the action runs.
void add_completion(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("completion", "print what a shell completes tidemark by");
  command.require_subcommand(1);
  for (const Shell& shell : kShells) {
    command.add_subcommand(shell.name, shell.summary)->callback([&shell, &app, &action] {
      action = [&shell, &app] {
        write_output(std::string(kStandardOutput), shell.script(command_tree(app)));
        return ExitStatus::kOk;
      };
    });
  }
  command.footer("`cmake --install` puts all three where their shells look for them.");
}

// For `cmake --install`: help does not speak of it.
void add_man(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("man", "print the manual page");
  command.group("");
  command.callback([&app, &action] {
    action = [&app] {
      write_output(std::string(kStandardOutput), manual_page(command_tree(app)));
      return ExitStatus::kOk;
    };
  });
}

}  // namespace tidemark::tools
