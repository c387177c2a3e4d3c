#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hardware/quantity.hpp"
#include "tools/commands/command.hpp"
#include "tools/comparison.hpp"
#include "tools/evaluate.hpp"
#include "tools/out/out.hpp"
#include "tools/output.hpp"
#include "tools/plot/canvas.hpp"
#include "tools/plot/charts.hpp"
#include "tools/plot/style.hpp"
#include "tools/progress.hpp"
#include "tools/select.hpp"
#include "tools/terminal.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

AddCommand add_compare;

namespace {

struct CompareArguments {
  std::shared_ptr<ScenarioArguments> scenarios;
  std::shared_ptr<TerminalOptions> terminal;
  std::vector<std::string> policies;
  std::string budgets;
  std::string json;
  std::string csv;
  OutArguments out;
  std::string plot;
  bool planning_time = false;
};

// Plans of several policies are often the same: one of them stands for all.
bool has_twin_before(const std::vector<Compared>& rows, std::size_t row) {
  const auto figures = [](const Compared& each) {
    return std::pair(each.report.tier(Tier::kHbm).peak_reserved, each.report.step_time);
  };
  return std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(row),
                     [&](const Compared& other) { return figures(other) == figures(rows[row]); });
}

OutInput out_input(const std::string& title, const std::vector<ComparedPolicy>& compared,
                   const std::vector<Compared>& rows, const std::vector<KeptSteps>& kept) {
  OutInput input{title, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    OutRun run;
    run.label = rows[i].policy;
    if (rows[i].budget) run.label += " within " + format_bytes(*rows[i].budget);
    run.spec = &compared[i].run;
    run.report = &rows[i].report;
    run.steps = &kept[i + 1];  // the first is what they are compared with
    run.budget = rows[i].budget;
    run.bound = rows[i].bound;
    run.own_files = rows[i].on_front && !has_twin_before(rows, i);
    input.runs.push_back(std::move(run));
  }
  return input;
}

void draw_front(const std::string& title, std::span<const Compared> rows, const std::string& file) {
  std::vector<plot::ParetoPoint> points;
  for (const Compared& row : rows) {
    std::string label = row.policy;
    if (row.budget) label += " within " + format_bytes(*row.budget);
    points.push_back({std::move(label), row.report.tier(Tier::kHbm).peak_reserved,
                      row.report.step_time, row.report.fits(), !row.missed_budget()});
  }
  const Bytes capacity = rows.front().report.tier(Tier::kHbm).capacity;
  const plot::ChartFrame frame{title, plot::find_style("page"), plot::font_measure()};
  write_output(file,
               plot::draw(plot::pareto_chart(points, capacity, frame), plot::picture_format(file)));
}

ExitStatus compare_policies(const CompareArguments& arguments) {
  if (!arguments.out.folder.empty()) check_out_folder(arguments.out, arguments.scenarios->files);
  const auto outputs = std::to_array<Output>(
      {{"--json", arguments.json}, {"--csv", arguments.csv}, {"--plot", arguments.plot}});
  const std::vector<scenarios::Scenario> scenarios = load_selected(*arguments.scenarios, outputs);
  const scenarios::RunSpec& chosen = the_only_run(scenarios, "compare takes");
  std::vector<std::string> names = arguments.policies;
  if (names.empty()) names = policies_compared_by_default();
  const std::vector<std::string> none = {"none"};
  const auto base = policies_to_compare(chosen, none, {});
  if (base.empty()) throw UserError("the strategy cannot run without checkpoints");
  const std::vector<Bytes> budgets = arguments.budgets.empty()
                                         ? std::vector<Bytes>{chosen.machine.gpu.capacity}
                                         : parse_budgets(arguments.budgets);
  const std::vector<ComparedPolicy> compared = policies_to_compare(base[0].run, names, budgets);
  Progress progress(compared.size());
  const bool keep = !arguments.out.folder.empty();
  std::vector<KeptSteps> kept(keep ? 1 : 0);
  const Report everything = evaluate(base[0].run, {.largest = 0}, keep ? &kept.front() : nullptr);
  std::vector<KeptSteps> kept_policies;
  const std::vector<Report> reports = evaluate_policies(
      base[0].run, compared, [&](std::size_t finished) { progress.finished(finished); },
      keep ? &kept_policies : nullptr);
  for (KeptSteps& each : kept_policies) kept.push_back(std::move(each));
  const auto rows = compare(base[0].run, everything, compared, reports);
  const std::string& title = scenarios.front().name;
  const bool colors = shows_colors(*arguments.terminal, terminal_facts());
  if (!arguments.plot.empty()) draw_front(title, rows, arguments.plot);
  if (!arguments.json.empty()) write_output(arguments.json, comparison_json(title, rows));
  if (!arguments.csv.empty()) write_output(arguments.csv, comparison_csv(rows));
  if (!arguments.out.folder.empty()) {
    write_and_tell(arguments.out, out_input(title, compared, rows, kept));
  }
  if (arguments.json != kStandardOutput && arguments.csv != kStandardOutput) {
    write_output(std::string(kStandardOutput),
                 comparison_text(title, rows, colors, arguments.planning_time));
  }
  return ExitStatus::kOk;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("compare", "checkpoint policies on one workload, with a lower bound");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->scenarios = add_scenario_arguments(command);
  command
      .add_option("--policies", arguments->policies,
                  "only these, separated by commas (tidemark list policies); all but ilp "
                  "unless stated")
      ->delimiter(',')
      ->type_name("NAME,…")
      ->allow_extra_args(false);
  command
      .add_option("--budgets", arguments->budgets,
                  "of HBM, for policies that plan for one: 40GB,60GB, or a range 20GiB..80GiB for "
                  "eight of them; "
                  "the GPU's capacity unless stated")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("names no budget") : std::string();
      })
      ->type_name("SIZES");
  command.add_flag("--planning-time", arguments->planning_time,
                   "a column more: how long each policy with a budget planned, on this machine");
  add_file_option(command, "--json", arguments->json,
                  "write the rows as JSON; - for standard output");
  add_file_option(command, "--csv", arguments->csv, "write the rows as CSV; - for standard output");
  add_out_option(command, arguments->out);
  command
      .add_option("--plot", arguments->plot,
                  "draw peaks against step times, with the front that nothing beats")
      ->type_name("FILE.svg|FILE.pdf|FILE.png")
      ->check(plot::names_a_picture);
  arguments->terminal = add_terminal_options(command);
  command.footer(
      "Examples:\n"
      "  tidemark compare scenarios/checkpoint-policies.yaml --strategy 'keep everything'\n"
      "  tidemark compare scenarios/checkpoint-policies.yaml --strategy 'keep everything' \\\n"
      "    --policies full,selective,layered --budgets 115GB..144GB --out policies");
  command.callback(
      [arguments, &action] { action = [arguments] { return compare_policies(*arguments); }; });
}

}  // namespace tidemark::tools
