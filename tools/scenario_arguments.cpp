#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "tools/commands/command.hpp"

namespace tidemark::tools {

std::shared_ptr<ScenarioArguments> add_scenario_arguments(CLI::App& command) {
  auto arguments = std::make_shared<ScenarioArguments>();
  command.add_option("SCENARIO", arguments->files, "scenario files (YAML)")->required();
  command
      .add_option("--strategy", arguments->strategies,
                  "only the strategy of this name; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--set", arguments->overrides,
                  "put this in the place of what the scenario says, "
                  "such as training.micro_batch=4; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  return arguments;
}

}  // namespace tidemark::tools
