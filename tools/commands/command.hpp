#pragma once
// The contract of a command: declare a subcommand with its options and help, and say what to do
// when it was asked for. One file and one row of table.cpp a command.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tidemark::tools {

struct OutArguments;  // tools/out/out.hpp

enum class ExitStatus : int {
  kOk = 0,
  kDoesNotFit = 1,  // --require-fit was not met
  kBadInput = 2,
  kInternalError = 3,
};

// Set while the command line is read, called once it has been read in full.
using Action = std::function<ExitStatus()>;

// `action` outlives `app`'s parse.
using AddCommand = void(CLI::App& app, Action& action);

std::span<AddCommand* const> commands();

// What the commands that read scenarios have in common.
struct ScenarioArguments {
  std::vector<std::string> files;
  std::vector<std::string> strategies;  // empty: all
  std::vector<std::string> overrides;   // "key=value"
};

// Adds SCENARIO…, --strategy and --set. The result is filled when the line is read.
std::shared_ptr<ScenarioArguments> add_scenario_arguments(CLI::App& command);

// Adds --out FOLDER and --out-files (tools/out/out.hpp); `arguments` outlives the reading.
void add_out_option(CLI::App& command, OutArguments& arguments);

}  // namespace tidemark::tools
