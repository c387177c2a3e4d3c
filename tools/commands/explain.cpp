#include "tools/explain.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/select.hpp"
#include "tools/text_table.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

AddCommand add_explain;

namespace {

struct ExplainArguments {
  std::shared_ptr<ScenarioArguments> scenarios;
  std::string dot;
};

std::string explained(const scenarios::RunSpec& run, bool with_table, Explanation* drawn,
                      KeptSteps* steps) {
  const Report report = evaluate(run, {}, steps);
  std::string out = run.strategy + "\n\n";
  for (const std::string& sentence : sentences(report, what_helps(run, report))) {
    for (const std::string& line : wrap(sentence, kTerminalWidth)) out += line + "\n";
  }
  if (!with_table) return out;
  *drawn = explain_blocks(run, *steps);
  return out + "\n" + blocks_text(*drawn);
}

// The block of the largest group: most blocks are like it.
int typical_block(const Explanation& explanation) {
  const auto size = [](const ExplainedBlocks& blocks) { return blocks.last - blocks.first; };
  return std::ranges::max_element(explanation.blocks, {}, size)->first;
}

ExitStatus explain(const ExplainArguments& arguments) {
  const auto outputs = std::to_array<Output>({{"--dot", arguments.dot}});
  const auto scenarios = load_selected(*arguments.scenarios, outputs);
  std::size_t count = 0;
  for (const scenarios::Scenario& scenario : scenarios) count += scenario.runs.size();
  if (!arguments.dot.empty() && count != 1) {
    throw UserError("--dot draws one strategy of one scenario; name it with --strategy");
  }
  const bool with_table = !arguments.scenarios->strategies.empty() || count == 1;
  std::string text;
  for (const scenarios::Scenario& scenario : scenarios) {
    text += (text.empty() ? "" : "\n") + scenario.name + "\n";
    for (const scenarios::RunSpec& run : scenario.runs) {
      Explanation drawn;
      KeptSteps steps;
      text += "\n" + explained(run, with_table, &drawn, &steps);
      if (arguments.dot.empty()) continue;
      write_output(arguments.dot,
                   remat::drawn_block(steps.steady().graph, typical_block(drawn), drawn.drawn));
    }
  }
  if (arguments.dot != kStandardOutput) write_output(std::string(kStandardOutput), text);
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
  command.footer(
      "Of a strategy that is named, a table for each kind of block as well: what it keeps, makes\n"
      "again and moves.\n"
      "\nExamples:\n"
      "  tidemark explain scenarios/7b-on-80gb.yaml\n"
      "  tidemark explain scenarios/checkpoint-policies.yaml --strategy both --dot block.dot");
  command.callback([arguments, &action] { action = [arguments] { return explain(*arguments); }; });
}

}  // namespace tidemark::tools
