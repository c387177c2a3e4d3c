#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tools/commands/command.hpp"
#include "tools/evaluate.hpp"
#include "tools/output.hpp"
#include "tools/plot/canvas.hpp"
#include "tools/plot/charts.hpp"
#include "tools/plot/style.hpp"
#include "tools/progress.hpp"
#include "tools/select.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

AddCommand add_plot;

namespace {

struct PlotArguments {
  std::shared_ptr<ScenarioArguments> scenarios;
  std::string out;
  std::string kind = "timeline";
  std::string style = "page";
  std::string tier = "hbm";
};

struct ChartKind {
  const char* name;
  const char* summary;
  plot::Figure (*draw)(std::span<const Report>, const PlotArguments&, const plot::ChartFrame&);
};

constexpr const char* kTimeline = "timeline";

plot::Figure draw_timeline(std::span<const Report> runs, const PlotArguments& arguments,
                           const plot::ChartFrame& frame) {
  const auto found = std::ranges::find(kTierNames, arguments.tier);
  const auto tier = static_cast<Tier>(found - kTierNames.begin());
  const bool empty =
      std::ranges::all_of(runs, [&](const Report& run) { return run.tier(tier).peak.count == 0; });
  if (empty) {
    throw UserError(fmt::format("--tier {}: no run has anything there", arguments.tier));
  }
  return plot::timeline_chart(runs, tier, frame);
}

plot::Figure draw_strategies(std::span<const Report> runs, const PlotArguments&,
                             const plot::ChartFrame& frame) {
  return plot::strategies_chart(runs, frame);
}

plot::Figure draw_pareto(std::span<const Report> runs, const PlotArguments&,
                         const plot::ChartFrame& frame) {
  const Bytes capacity = runs.front().tier(Tier::kHbm).capacity;
  return plot::pareto_chart(plot::pareto_points(runs), capacity, frame);
}

constexpr auto kKinds = std::to_array<ChartKind>({
    {kTimeline, "memory over the step by category, a panel a run", draw_timeline},
    {"strategies", "peaks and step times side by side", draw_strategies},
    {"pareto", "peak against step time, with the front that nothing beats", draw_pareto},
});

ExitStatus plot_scenario(const PlotArguments& arguments) {
  const auto outputs = std::to_array<Output>({{"--out", arguments.out}});
  const std::vector<scenarios::Scenario> scenarios = load_selected(*arguments.scenarios, outputs);
  if (scenarios.size() != 1) throw UserError("plot draws one scenario");
  if (arguments.kind != kTimeline && arguments.tier != kTierNames.front()) {
    throw UserError(
        fmt::format("--tier {}: only a timeline shows a tier of its own, --kind {} does not",
                    arguments.tier, arguments.kind));
  }
  const scenarios::Scenario& scenario = scenarios.front();
  const bool timeline = arguments.kind == kTimeline;
  Progress progress(scenario.runs.size());
  const std::vector<Report> reports =
      evaluate_all(scenario.runs, {.largest = 0, .columns = timeline ? plot::kTimelineColumns : 0},
                   [&](std::size_t finished) { progress.finished(finished); });
  const plot::ChartFrame frame{scenario.name, plot::find_style(arguments.style),
                               plot::font_measure()};
  const auto kind = std::ranges::find(kKinds, arguments.kind, &ChartKind::name);
  write_output(arguments.out, plot::draw(kind->draw(reports, arguments, frame),
                                         plot::picture_format(arguments.out)));
  return ExitStatus::kOk;
}

// The rows of a table as help, after what they are of: "how large; page: as wide as …; column: …".
// A shell's menu shows the first part alone.
template <class Rows>
std::string choices_help(std::string text, const Rows& rows) {
  for (const auto& row : rows) text += fmt::format("; {}: {}", row.name, row.summary);
  return text;
}

template <class Rows>
std::vector<std::string> choice_names(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace

void add_plot(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("plot", "draw a scenario's runs as SVG, PDF or PNG");
  const auto arguments = std::make_shared<PlotArguments>();
  arguments->scenarios = add_scenario_arguments(command);
  command.add_option("--out", arguments->out, "the picture to write; its ending says the format")
      ->required()
      ->type_name("FILE.svg|FILE.pdf|FILE.png")
      ->check(plot::names_a_picture);
  command.add_option("--kind", arguments->kind, choices_help("what is drawn", kKinds))
      ->check(CLI::IsMember(choice_names(kKinds)))
      ->type_name("KIND");
  command
      .add_option("--style", arguments->style,
                  choices_help("how large it is", plot::figure_styles()))
      ->check(CLI::IsMember(choice_names(plot::figure_styles())))
      ->type_name("STYLE");
  command.add_option("--tier", arguments->tier, "whose memory a timeline shows: hbm, host or ssd")
      ->check(CLI::IsMember(std::vector<std::string>(kTierNames.begin(), kTierNames.end())))
      ->type_name("TIER");
  command.footer(
      "Examples:\n"
      "  tidemark plot scenarios/7b-on-80gb.yaml --out peak.svg\n"
      "  tidemark plot scenarios/7b-on-80gb.yaml --kind strategies --style slide --out bars.png\n"
      "  tidemark plot scenarios/checkpoint-policies.yaml --kind pareto --style column --out "
      "front.pdf\n"
      "  tidemark plot scenarios/7b-on-80gb.yaml --tier host \\\n"
      "    --strategy 'checkpoint + optimizer on the host' --out host.svg");
  command.callback(
      [arguments, &action] { action = [arguments] { return plot_scenario(*arguments); }; });
}

}  // namespace tidemark::tools
