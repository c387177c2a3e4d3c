#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/commands/command.hpp"
#include "tools/evaluate.hpp"
#include "tools/formats/format.hpp"
#include "tools/out/out.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/remedies.hpp"
#include "tools/select.hpp"
#include "tools/terminal.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

AddCommand add_run;

namespace {

struct RunArguments {
  std::shared_ptr<ScenarioArguments> scenarios;
  std::shared_ptr<TerminalOptions> terminal;
  std::string json;
  std::string csv;
  OutArguments out;
  std::size_t top = 0;
  bool require_fit = false;
  bool why_not_fit = false;
};

constexpr std::size_t kListedInJson = 10;
constexpr std::size_t kSparklineColumns = 60;  // beside its name, within the table's width

std::vector<ScenarioReports> evaluate_scenarios(const std::vector<scenarios::Scenario>& scenarios,
                                                const ReportOptions& options,
                                                std::vector<KeptSteps>* kept) {
  std::vector<scenarios::RunSpec> runs;
  for (const scenarios::Scenario& scenario : scenarios) {
    runs.insert(runs.end(), scenario.runs.begin(), scenario.runs.end());
  }
  Progress progress(runs.size());
  const std::vector<Report> reports = evaluate_all(
      runs, options, [&](std::size_t finished) { progress.finished(finished); }, kept);

  std::vector<ScenarioReports> grouped;
  auto next = reports.begin();
  for (const scenarios::Scenario& scenario : scenarios) {
    const auto end = next + static_cast<std::ptrdiff_t>(scenario.runs.size());
    grouped.push_back({scenario.name, std::vector<Report>(next, end)});
    next = end;
  }
  return grouped;
}

// With a line of progress of its own for each round of the search.
std::vector<Report> simulate_changed(std::span<const scenarios::RunSpec> runs) {
  Progress progress(runs.size());
  return evaluate_all(runs, {.largest = 0},
                      [&](std::size_t finished) { progress.finished(finished); });
}

void add_remedies(const std::vector<scenarios::Scenario>& scenarios,
                  std::vector<ScenarioReports>& reports) {
  for (std::size_t s = 0; s < scenarios.size(); ++s) {
    for (std::size_t r = 0; r < scenarios[s].runs.size(); ++r) {
      Report& report = reports[s].runs[r];
      report.remedies = find_remedies(scenarios[s].runs[r], report, simulate_changed);
    }
  }
}

OutInput out_input(const std::vector<scenarios::Scenario>& scenarios,
                   const std::vector<ScenarioReports>& reports,
                   const std::vector<KeptSteps>& kept) {
  OutInput input;
  for (std::size_t s = 0; s < scenarios.size(); ++s) {
    const std::string_view name = scenarios.size() > 1 ? scenarios[s].name : std::string_view();
    input.title += (s > 0 ? "; " : "") + scenarios[s].name;
    for (std::size_t r = 0; r < scenarios[s].runs.size(); ++r) {
      OutRun run;
      run.spec = &scenarios[s].runs[r];
      run.label = label_of(*run.spec, name);
      run.report = &reports[s].runs[r];
      run.steps = &kept[input.runs.size()];
      input.runs.push_back(std::move(run));
    }
  }
  return input;
}

ExitStatus run(const RunArguments& arguments) {
  if (!arguments.out.folder.empty()) check_out_folder(arguments.out, arguments.scenarios->files);
  const auto outputs =
      std::to_array<Output>({{"--json", arguments.json}, {"--csv", arguments.csv}});
  const std::vector<scenarios::Scenario> scenarios = load_selected(*arguments.scenarios, outputs);
  std::vector<KeptSteps> kept;
  std::vector<ScenarioReports> reports =
      evaluate_scenarios(scenarios,
                         {.largest = std::max(kListedInJson, arguments.top),
                          .try_settings = true,
                          .columns = kSparklineColumns},
                         arguments.out.folder.empty() ? nullptr : &kept);
  if (arguments.why_not_fit) add_remedies(scenarios, reports);

  const bool all_fit = std::ranges::all_of(reports, [](const ScenarioReports& scenario) {
    return std::ranges::all_of(scenario.runs, &Report::fits);
  });
  const TerminalFacts facts = terminal_facts();
  const FormatOptions options{.largest = arguments.top,
                              .colors = shows_colors(*arguments.terminal, facts),
                              .ascii = !shows_unicode(*arguments.terminal, facts)};
  if (!arguments.json.empty()) {
    write_output(arguments.json, find_format("json").write(reports, options));
  }
  if (!arguments.csv.empty()) {
    write_output(arguments.csv, find_format("csv").write(reports, options));
  }
  if (!arguments.out.folder.empty()) {
    write_and_tell(arguments.out, out_input(scenarios, reports, kept));
  }
  if (arguments.json != kStandardOutput && arguments.csv != kStandardOutput) {
    std::string text = find_format("text").write(reports, options);
    if (arguments.why_not_fit && all_fit) text += "\nevery run fits as it is\n";
    write_output(std::string(kStandardOutput), text);
  }
  return arguments.require_fit && !all_fit ? ExitStatus::kDoesNotFit : ExitStatus::kOk;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("run", "simulate a scenario's strategies and compare them");
  auto arguments = std::make_shared<RunArguments>();
  arguments->scenarios = add_scenario_arguments(command);
  add_file_option(command, "--json", arguments->json,
                  "write every number as JSON; - for standard output");
  add_file_option(command, "--csv", arguments->csv,
                  "write a line a run as CSV; - for standard output");
  add_out_option(command, arguments->out);
  command
      .add_option("--top", arguments->top, "list the N largest tensors alive at each peak in HBM")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
  command.add_flag("--require-fit", arguments->require_fit,
                   "exit with status 1 unless every run fits");
  command.add_flag("--why-not-fit", arguments->why_not_fit,
                   "for each run that does not fit: the changes that make it fit, each simulated, "
                   "and what they cost in time");
  arguments->terminal = add_terminal_options(command);
  command.footer(
      "Examples:\n"
      "  tidemark run scenarios/7b-on-80gb.yaml\n"
      "  tidemark run scenarios/7b-on-80gb.yaml --strategy 'checkpoint every block' --top 5\n"
      "  tidemark run scenarios/7b-on-80gb.yaml --why-not-fit\n"
      "  tidemark run scenarios/7b-on-80gb.yaml --set training.micro_batch=4 --csv runs.csv\n"
      "  tidemark run scenarios/7b-on-80gb.yaml --out 7b    # then open 7b/report.html\n"
      "  tidemark run scenarios/7b-on-80gb.yaml --out 7b --out-files trace.json,snapshot.pickle\n"
      "  tidemark run scenarios/7b-on-80gb.yaml --json - | jq '.runs[].step_time_s'\n"
      "  tidemark run scenarios/7b-on-80gb.yaml --require-fit || echo does not fit");
  command.callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace tidemark::tools
