#include "tools/analysis/sensitivity.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <memory>
#include <optional>

#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/select.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {

AddCommand add_sensitivity;

namespace {

struct SensitivityArguments {
  std::shared_ptr<ScenarioArguments> scenarios;
  std::string json;
  std::string csv;
};

ExitStatus sensitivity(const SensitivityArguments& arguments) {
  const auto outputs =
      std::to_array<Output>({{"--json", arguments.json}, {"--csv", arguments.csv}});
  const std::vector<scenarios::Scenario> scenarios = load_selected(*arguments.scenarios, outputs);
  std::vector<scenarios::RunSpec> runs;
  for (const scenarios::Scenario& scenario : scenarios) {
    runs.insert(runs.end(), scenario.runs.begin(), scenario.runs.end());
  }
  std::optional<Progress> progress;
  const std::vector<Sensitivity> all =
      sensitivities(runs, [&](std::size_t finished, std::size_t of) {
        if (!progress) progress.emplace(of);
        progress->finished(finished);
      });
  progress.reset();

  std::vector<ScenarioSensitivities> grouped;
  auto next = all.begin();
  for (const scenarios::Scenario& scenario : scenarios) {
    const auto end = next + static_cast<std::ptrdiff_t>(scenario.runs.size());
    grouped.push_back({scenario.name, std::vector<Sensitivity>(next, end)});
    next = end;
  }
  if (!arguments.json.empty()) write_output(arguments.json, sensitivity_json(grouped));
  if (!arguments.csv.empty()) write_output(arguments.csv, sensitivity_csv(grouped));
  if (arguments.json != kStandardOutput && arguments.csv != kStandardOutput) {
    write_output(std::string(kStandardOutput), sensitivity_text(grouped, kTerminalWidth));
  }
  return ExitStatus::kOk;
}

}  // namespace

void add_sensitivity(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "sensitivity", "what a faster GPU, link or drive would save, and how fast is fast enough");
  auto arguments = std::make_shared<SensitivityArguments>();
  arguments->scenarios = add_scenario_arguments(command);
  add_file_option(command, "--json", arguments->json,
                  "write every number as JSON; - for standard output");
  add_file_option(command, "--csv", arguments->csv,
                  "write a line a figure and a rate needed as CSV; - for standard output");
  command.footer(
      "Simulates each run again with one figure of the machine 10 % better at a time, and\n"
      "searches for the least rate of each link, drive and CPU that hides its traffic.\n\n"
      "Examples:\n"
      "  tidemark sensitivity scenarios/7b-on-80gb.yaml\n"
      "  tidemark sensitivity scenarios/7b-on-80gb.yaml --strategy 'checkpoint + optimizer on "
      "NVMe'\n"
      "  tidemark sensitivity scenarios/7b-on-80gb.yaml --json - | jq '.runs[].effects[0]'");
  command.callback(
      [arguments, &action] { action = [arguments] { return sensitivity(*arguments); }; });
}

}  // namespace tidemark::tools
