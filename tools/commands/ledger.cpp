#include "tools/ledger.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "hardware/quantity.hpp"
#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/select.hpp"
#include "tools/text_table.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {

AddCommand add_ledger;

namespace {

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
  std::string text = table.render(kTerminalWidth);
  if (ledger.gradient_copies > Bytes(0)) {
    text += fmt::format(
        "the update copies the gradients to fp32 before its first kernel: {}\n(kernels: "
        "{{master_gradients: direct}} makes no copies)\n",
        format_bytes(ledger.gradient_copies));
  }
  return text;
}

std::string saved_text(const Ledger& ledger) {
  TextTable table({{"tensor", Align::kLeft, 22},
                   {"of", Align::kLeft},
                   {"saved by", Align::kLeft, 18},
                   {"shape", Align::kRight, 19},
                   {"dtype", Align::kLeft},
                   {"bytes"}});
  for (const SavedTensor& tensor : ledger.saved) {
    std::string nodes;
    for (const std::string& node : tensor.saved_by) nodes += (nodes.empty() ? "" : ", ") + node;
    table.add_row({tensor.name, std::string(spoken(tensor.module)), nodes, shape_text(tensor.shape),
                   std::string(name_of(tensor.dtype)), format_count(tensor.bytes.count)});
  }
  const auto sum = [&](const std::string& name, Bytes bytes) {
    table.add_row({name, "", "", "", "", format_count(bytes.count)});
  };
  sum("one block", ledger.saved_of_layer);
  sum(fmt::format("all {} blocks", ledger.layers), ledger.saved_of_all_layers);
  sum("the whole model", ledger.saved_in_all);
  return table.render(kTerminalWidth);
}

std::string difference(Bytes other, Bytes now) {
  const std::int64_t bytes = other.count - now.count;
  if (bytes == 0) return "-";
  return (bytes < 0 ? "-" : "+") + format_bytes(Bytes(std::abs(bytes)));
}

// What strategies save with their checkpoint policies, those that save the same in one row.
struct AsItIs {
  Bytes saved_of_layer;
  Bytes saved;
  std::string titles;
};

// Options that change what is saved, a row each; the others in one line.
std::string effects_text(const std::vector<OptionEffect>& effects, const Ledger& ledger,
                         const std::vector<AsItIs>& as_it_is) {
  TextTable table({{"option", Align::kLeft, 40},
                   {"a block saves"},
                   {"difference"},
                   {"the model saves"},
                   {"difference"}});
  const auto add = [&](const std::string& name, Bytes of_layer, Bytes saved) {
    table.add_row({name, format_bytes(of_layer), difference(of_layer, ledger.saved_of_layer),
                   format_bytes(saved), difference(saved, ledger.saved_in_all)});
  };
  const auto plain = [&](const auto& each) {
    return each.saved_of_layer == ledger.saved_of_layer && each.saved == ledger.saved_in_all;
  };
  const bool all_plain = std::ranges::all_of(as_it_is, plain);
  table.add_row({all_plain ? "(as it is)" : "(nothing recomputed)",
                 format_bytes(ledger.saved_of_layer), "", format_bytes(ledger.saved_in_all), ""});
  for (const AsItIs& each : as_it_is) {
    if (!plain(each)) add("(as it is: " + each.titles + ")", each.saved_of_layer, each.saved);
  }
  std::string idle;
  for (const OptionEffect& effect : effects) {
    if (plain(effect)) {
      idle += (idle.empty() ? "" : "; ") + effect.yaml;
    } else {
      add(effect.yaml, effect.saved_of_layer, effect.saved);
    }
  }
  std::string text = table.render(kTerminalWidth);
  if (idle.empty()) return text;
  for (const std::string& line : wrap("saved bytes stay the same: " + idle, kTerminalWidth)) {
    text += line + '\n';
  }
  return text;
}

// Strategies that train the same network the same way have the same ledger, whatever they
// recompute: the text without that decides.
struct Section {
  std::string key;
  std::string states_and_saved;
  std::string titles;
  Ledger ledger;
  std::vector<OptionEffect> effects;
  std::vector<AsItIs> as_it_is;
  std::string planned;  // titles of those whose policy plans for a budget

  void add_strategy(const scenarios::RunSpec& run, const std::string& title) {
    titles += (titles.empty() ? "" : "; ") + title;
    const std::optional<OptionEffect> saves = saved_as_it_is(run);
    if (!saves) {
      planned += (planned.empty() ? "" : "; ") + title;
      return;
    }
    const auto same = std::ranges::find_if(as_it_is, [&](const AsItIs& each) {
      return each.saved_of_layer == saves->saved_of_layer && each.saved == saves->saved;
    });
    if (same == as_it_is.end()) {
      as_it_is.push_back({saves->saved_of_layer, saves->saved, title});
    } else {
      same->titles += "; " + title;
    }
  }

  std::string text() const {
    std::string out = states_and_saved +
                      "\nwhat other options would save, if nothing is recomputed\n\n" +
                      effects_text(effects, ledger, as_it_is);
    if (planned.empty()) return out;
    for (const std::string& line :
         wrap("tidemark explain shows what these keep, which plan for a budget: " + planned,
              kTerminalWidth)) {
      out += line + '\n';
    }
    return out;
  }
};

std::string scenario_text(const scenarios::Scenario& scenario) {
  std::vector<Section> sections;
  for (const scenarios::RunSpec& run : scenario.runs) {
    Section section;
    section.ledger = make_ledger(run);
    section.effects = option_effects(run);
    const Ledger& ledger = section.ledger;
    section.states_and_saved = fmt::format(
        "{}: {} parameters\n\n{}\nsaved by block {} of {}, from forward to backward, if "
        "nothing is recomputed\n\n{}",
        run.model.name, format_count(ledger.parameters), states_text(ledger), ledger.layer,
        ledger.layers, saved_text(ledger));
    section.key = section.states_and_saved + effects_text(section.effects, ledger, {});
    std::string title = run.strategy;
    for (const auto& [key, value] : run.point) title += fmt::format(", {} {}", key, value);
    auto same = std::ranges::find(sections, section.key, &Section::key);
    if (same == sections.end()) same = sections.insert(same, std::move(section));
    same->add_strategy(run, title);
  }
  std::string out = scenario.name + '\n';
  for (const Section& section : sections) {
    out += '\n';
    if (sections.size() > 1 || scenario.strategies.size() > 1) {
      for (const std::string& line : wrap("for " + section.titles, kTerminalWidth))
        out += line + '\n';
    }
    out += section.text();
  }
  return out;
}

struct LedgerArguments {
  std::shared_ptr<ScenarioArguments> scenarios;
  std::string json;
  std::string csv;
};

std::vector<ScenarioLedgers> ledgers_of(const std::vector<scenarios::Scenario>& scenarios) {
  std::vector<ScenarioLedgers> all;
  for (const scenarios::Scenario& scenario : scenarios) {
    ScenarioLedgers& ledgers = all.emplace_back(ScenarioLedgers{scenario.name, {}});
    for (const scenarios::RunSpec& run : scenario.runs) {
      ledgers.runs.push_back({&run, make_ledger(run), option_effects(run), saved_as_it_is(run)});
    }
  }
  return all;
}

ExitStatus ledger(const LedgerArguments& arguments) {
  const auto outputs =
      std::to_array<Output>({{"--json", arguments.json}, {"--csv", arguments.csv}});
  const std::vector<scenarios::Scenario> scenarios = load_selected(*arguments.scenarios, outputs);
  if (!arguments.json.empty() || !arguments.csv.empty()) {
    const std::vector<ScenarioLedgers> all = ledgers_of(scenarios);
    if (!arguments.json.empty()) write_output(arguments.json, ledger_json(all));
    if (!arguments.csv.empty()) write_output(arguments.csv, ledger_csv(all));
  }
  if (takes_standard_output(outputs)) return ExitStatus::kOk;
  std::string out;
  for (const scenarios::Scenario& scenario : scenarios) {
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
  auto arguments = std::make_shared<LedgerArguments>();
  arguments->scenarios = add_scenario_arguments(command);
  add_file_option(command, "--json", arguments->json,
                  "write every number as JSON; - for standard output");
  add_file_option(
      command, "--csv", arguments->csv,
      "write a line a state, a saved tensor and an option as CSV; - for standard output");
  command.footer(
      "Examples:\n"
      "  tidemark ledger scenarios/7b-on-80gb.yaml\n"
      "  tidemark ledger scenarios/7b-on-80gb.yaml --set training.micro_batch=4\n"
      "  tidemark ledger scenarios/7b-on-80gb.yaml --set kernels.attention=flash\n"
      "  tidemark ledger scenarios/7b-on-80gb.yaml --csv ledger.csv");
  command.callback([arguments, &action] { action = [arguments] { return ledger(*arguments); }; });
}

}  // namespace tidemark::tools
