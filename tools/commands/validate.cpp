#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>

#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/select.hpp"

namespace tidemark::tools {

AddCommand add_validate;

namespace {

std::string counted(std::size_t n, std::string_view what, std::string_view plural) {
  return fmt::format("{} {}", n, n == 1 ? what : plural);
}

ExitStatus validate(const ScenarioArguments& arguments) {
  for (const scenarios::Scenario& scenario : load_selected(arguments)) {
    std::vector<std::string> strategies;
    for (const scenarios::RunSpec& run : scenario.runs) {
      if (std::ranges::find(strategies, run.strategy) == strategies.end()) {
        strategies.push_back(run.strategy);
      }
    }
    const std::size_t points = scenario.runs.size() / strategies.size();
    std::string line = fmt::format("{}: ok: {}", scenario.file,
                                   counted(strategies.size(), "strategy", "strategies"));
    if (points > 1) line += fmt::format(" at {}", counted(points, "point", "points"));
    line += fmt::format(", {}\n", counted(scenario.runs.size(), "run", "runs"));
    write_output(std::string(kStandardOutput), line);
  }
  return ExitStatus::kOk;
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("validate", "check a scenario without running it");
  const auto arguments = add_scenario_arguments(command);
  command.footer(
      "Examples:\n"
      "  tidemark validate scenarios/*.yaml\n"
      "  tidemark validate scenarios/7b-on-80gb.yaml --set training.sequence=4096");
  command.callback([arguments, &action] { action = [arguments] { return validate(*arguments); }; });
}

}  // namespace tidemark::tools
