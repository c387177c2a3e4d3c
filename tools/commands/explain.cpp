#include "tools/explain.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "tools/commands/command.hpp"
#include "tools/out/out.hpp"
#include "tools/output.hpp"
#include "tools/select.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {

AddCommand add_explain;

namespace {

struct ExplainArguments {
  std::shared_ptr<ScenarioArguments> scenarios;
  std::string dot;
  std::string json;
  std::string csv;
};

std::string text_of(const ExplainedScenario& scenario, bool tell_blocks) {
  std::string out = scenario.name + "\n";
  for (const ExplainedRun& run : scenario.runs) {
    out += "\n" + run.label + "\n\n";
    for (const std::string& sentence : sentences(run.report, run.help)) {
      for (const std::string& line : wrap(sentence, kTerminalWidth)) out += line + "\n";
    }
    if (tell_blocks) out += "\n" + blocks_text(*run.explanation);
  }
  return out;
}

// The block of the largest group: most blocks are like it.
int typical_block(const Explanation& explanation) {
  const auto size = [](const ExplainedBlocks& blocks) { return blocks.last - blocks.first; };
  return std::ranges::max_element(explanation.blocks, {}, size)->first;
}

ExitStatus explain(const ExplainArguments& arguments) {
  const auto outputs = std::to_array<Output>(
      {{"--dot", arguments.dot}, {"--json", arguments.json}, {"--csv", arguments.csv}});
  const auto scenarios = load_selected(*arguments.scenarios, outputs);
  std::size_t count = 0;
  for (const scenarios::Scenario& scenario : scenarios) count += scenario.runs.size();
  if (!arguments.dot.empty()) the_only_run(scenarios, "--dot draws");
  const bool tell_blocks = !arguments.scenarios->strategies.empty() || count == 1;
  std::vector<ExplainedScenario> explained;
  for (const scenarios::Scenario& scenario : scenarios) {
    explained.push_back({scenario.name, {}});
    for (const scenarios::RunSpec& run : scenario.runs) {
      KeptSteps steps;
      ExplainedRun& one = explained.back().runs.emplace_back();
      one.label = label_of(run, "");
      one.report = evaluate(run, {}, &steps);
      one.help = what_helps(run, one.report);
      if (tell_blocks || !arguments.csv.empty()) one.explanation = explain_blocks(run, steps);
      if (arguments.dot.empty()) continue;
      write_output(arguments.dot,
                   remat::drawn_block(steps.steady().graph, typical_block(*one.explanation),
                                      one.explanation->drawn));
    }
  }
  if (!arguments.json.empty()) write_output(arguments.json, explanation_json(explained));
  if (!arguments.csv.empty()) write_output(arguments.csv, explanation_csv(explained));
  if (takes_standard_output(outputs)) return ExitStatus::kOk;
  std::string text;
  for (const ExplainedScenario& each : explained) {
    text += (text.empty() ? "" : "\n") + text_of(each, tell_blocks);
  }
  write_output(std::string(kStandardOutput), text);
  return ExitStatus::kOk;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "explain", "where the peak is, what holds a run up, what helps; what each block keeps");
  auto arguments = std::make_shared<ExplainArguments>();
  arguments->scenarios = add_scenario_arguments(command);
  add_file_option(command, "--dot", arguments->dot,
                  "draw the forward of a block and what it keeps, for GraphViz; - for standard "
                  "output in the place of the text");
  add_file_option(command, "--json", arguments->json,
                  "write the same figures as JSON; - for standard output in the place of the text");
  add_file_option(command, "--csv", arguments->csv,
                  "write the blocks' tables of every run as CSV, a line a tensor; - for standard "
                  "output in the place of the text");
  command.footer(
      "Of a strategy that is named, a table for each kind of block as well: what it keeps, makes\n"
      "again and moves.\n"
      "\nExamples:\n"
      "  tidemark explain scenarios/7b-on-80gb.yaml\n"
      "  tidemark explain scenarios/checkpoint-policies.yaml --strategy both --dot block.dot");
  command.callback([arguments, &action] { action = [arguments] { return explain(*arguments); }; });
}

}  // namespace tidemark::tools
