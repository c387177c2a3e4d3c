#include "tools/ledger.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>

#include "hardware/quantity.hpp"
#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/select.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {

AddCommand add_ledger;

namespace {

constexpr std::size_t kWidth = 100;

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", shape.at(i));
  return text + "]";
}

std::string states_text(const Ledger& ledger) {
  TextTable table({{"component", Align::kLeft}, {"bytes"}, {"a parameter"}, {""}});
  const auto add = [&](const std::string& name, Bytes bytes) {
    const double each = static_cast<double>(bytes.count) /
                        static_cast<double>(std::max<std::int64_t>(ledger.parameters, 1));
    table.add_row(
        {name, format_count(bytes.count), fmt::format("{:.2f}", each), format_bytes(bytes)});
  };
  for (const LedgerComponent& component : ledger.components) add(component.name, component.bytes);
  add("total", ledger.states);
  return table.render(kWidth);
}

std::string saved_text(const Ledger& ledger) {
  TextTable table(
      {{"tensor", Align::kLeft, 48}, {"shape"}, {"dtype", Align::kLeft}, {"bytes"}, {""}});
  for (const SavedTensor& tensor : ledger.saved) {
    table.add_row({tensor.name, shape_text(tensor.shape), std::string(name_of(tensor.dtype)),
                   format_count(tensor.bytes.count), format_bytes(tensor.bytes)});
  }
  const auto sum = [&](const std::string& name, Bytes bytes) {
    table.add_row({name, "", "", format_count(bytes.count), format_bytes(bytes)});
  };
  sum("one block", ledger.saved_of_layer);
  sum(fmt::format("all {} blocks", ledger.layers), ledger.saved_of_all_layers);
  return table.render(kWidth);
}

// Strategies that train the same network the same way have the same ledger: the text decides.
struct Section {
  std::string body;
  std::string titles;
};

std::string scenario_text(const scenarios::Scenario& scenario) {
  std::vector<Section> sections;
  for (const scenarios::RunSpec& run : scenario.runs) {
    const Ledger ledger = make_ledger(run);
    std::string body = fmt::format(
        "{}: {} parameters\n\n{}\nsaved by block {} of {}, from forward to backward, if "
        "nothing is recomputed\n\n{}",
        run.model.name, format_count(ledger.parameters), states_text(ledger), ledger.layer,
        ledger.layers, saved_text(ledger));
    std::string title = run.strategy;
    for (const auto& [key, value] : run.point) title += fmt::format(", {} {}", key, value);
    const auto same = std::ranges::find(sections, body, &Section::body);
    if (same == sections.end()) {
      sections.push_back({std::move(body), std::move(title)});
    } else {
      same->titles += "; " + title;
    }
  }
  std::string out = scenario.name + '\n';
  for (const Section& section : sections) {
    out += '\n';
    if (sections.size() > 1) {
      for (const std::string& line : wrap("for " + section.titles, kWidth)) out += line + '\n';
    }
    out += section.body;
  }
  return out;
}

ExitStatus ledger(const ScenarioArguments& arguments) {
  std::string out;
  for (const scenarios::Scenario& scenario : load_selected(arguments)) {
    if (!out.empty()) out += '\n';
    out += scenario_text(scenario);
  }
  write_output(std::string(kStandardOutput), out);
  return ExitStatus::kOk;
}

}  // namespace

void add_ledger(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "ledger", "show what each parameter costs and what a block saves, before any simulation");
  const auto arguments = add_scenario_arguments(command);
  command.footer(
      "Examples:\n"
      "  tidemark ledger scenarios/7b-on-80gb.yaml\n"
      "  tidemark ledger scenarios/7b-on-80gb.yaml --set training.micro_batch=4\n"
      "  tidemark ledger scenarios/7b-on-80gb.yaml --set kernels.attention=flash");
  command.callback([arguments, &action] { action = [arguments] { return ledger(*arguments); }; });
}

}  // namespace tidemark::tools
