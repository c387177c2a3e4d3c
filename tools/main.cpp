// The `tidemark` command. The only place that catches, and that decides the exit status.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "hardware/ensure.hpp"
#include "scenarios/diagnostic.hpp"
#include "tidemark/version.hpp"
#include "tools/commands/command.hpp"
#include "tools/usage.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  tidemark run scenarios/7b-on-80gb.yaml       will it fit, and what does each remedy cost?\n"
    "  tidemark ledger scenarios/7b-on-80gb.yaml    bytes per parameter, and what a block saves\n"
    "  tidemark list hardware                       names that a scenario may use\n"
    "  tidemark run --help                          more of these\n"
    "\n"
    "A scenario is a YAML file of ten lines:\n"
    "  model: gpt-7b\n"
    "  training: {micro_batch: 1, sequence: 2048}\n"
    "  hardware: a100-80gb-sxm\n"
    "  strategies:\n"
    "    - name: keep everything\n"
    "    - name: checkpoint every block\n"
    "      checkpoint: full\n"
    "\n"
    "Exit status: 0 done, 1 --require-fit was not met, 2 bad input, 3 a fault of tidemark itself.";

ExitStatus fail(ExitStatus status, const std::string& text) {
  std::fputs((text + '\n').c_str(), stderr);
  return status;
}

// Help and version are asked for, so they go to standard output; faults do not.
ExitStatus answer(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    app.exit(error);
    return std::fflush(stdout) == 0 ? ExitStatus::kOk : ExitStatus::kBadInput;
  }
  return fail(ExitStatus::kBadInput, "error: " + usage_fault(app, error) +
                                         "\ntry 'tidemark --help' or 'tidemark COMMAND --help'");
}

ExitStatus tidemark(int argc, char** argv) {
  CLI::App app("Simulates the memory and time of one Transformer training step.", "tidemark");
  app.set_version_flag("--version", "tidemark " + std::string(kVersion));
  app.require_subcommand(1);
  app.footer(kFooter);
  Action action;
  for (AddCommand* add : commands()) add(app, action);
  try {
    app.parse(argc, argv);
    ensure(static_cast<bool>(action), "a command that was read should have something to do");
    return action();
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  } catch (const scenarios::ScenarioError& error) {
    return fail(ExitStatus::kBadInput, error.what());
  } catch (const UserError& error) {
    return fail(ExitStatus::kBadInput, std::string("error: ") + error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitStatus::kBadInput,
                "error: this computer has too little memory for the scenario");
  } catch (const std::exception& error) {
    return fail(ExitStatus::kInternalError,
                std::string("internal error: ") + error.what() +
                    "\nThis is a fault of tidemark, not of your input. Please report it together "
                    "with the scenario and the command line.");
  }
}

}  // namespace
}  // namespace tidemark::tools

int main(int argc, char** argv) { return static_cast<int>(tidemark::tools::tidemark(argc, argv)); }
