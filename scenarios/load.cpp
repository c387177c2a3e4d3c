#include "scenarios/load.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "hardware/decimal.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/model_import.hpp"
#include "scenarios/options.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/sweep.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

constexpr std::int64_t kDefaultSequence = 2048;  // or the model's max_positions, where fewer

struct Strategy {
  std::string name;
  Mark mark;
  Value sections;  // without the name
};

Value empty_section(const Mark& mark) {
  Value value;
  value.kind = Value::Kind::kMapping;
  value.mark = mark;
  return value;
}

// Splits a mapping into its sections and asks the reader for each, so that only others are unknown.
Value take_sections(Reader& reader) {
  Value taken = empty_section(reader.mark());
  for (const Section& section : sections()) {
    if (section.name.find('.') != std::string_view::npos) continue;
    const Value* found = reader.find(section.name);
    if (found != nullptr) taken.entries.push_back({std::string(section.name), found->mark, *found});
  }
  return taken;
}

std::string read_name(const Value* value, Diagnostics& diagnostics) {
  static constexpr OptionSpec kName{.name = "name"};
  if (value == nullptr) return {};
  const auto name = read_value(*value, kName, diagnostics);
  if (name && trimmed(name->text).empty()) diagnostics.error(value->mark, "the name is empty");
  // Names are printed: what steers a terminal is not for them.
  const auto steers = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
  if (name && std::ranges::any_of(name->text, steers)) {
    diagnostics.error(value->mark, "the name has a control character or a line break in it",
                      "leave it out");
  }
  return name ? name->text : std::string();
}

std::vector<Strategy> read_strategies(const Value* list, Diagnostics& diagnostics) {
  std::vector<Strategy> strategies;
  if (list == nullptr) return strategies;  // reported
  if (list->kind != Value::Kind::kSequence || list->items.empty()) {
    diagnostics.error(list->mark, "strategies: expected a list with at least one strategy",
                      "for example [{name: keep everything}]");
    return strategies;
  }
  for (const Value& item : list->items) {
    Reader reader(item, "a strategy", diagnostics);
    const Value* name_value = reader.require("name");
    Strategy strategy;
    strategy.name = read_name(name_value, diagnostics);
    strategy.mark = name_value != nullptr ? name_value->mark : item.mark;
    strategy.sections = take_sections(reader);
    reader.finish();
    const auto same = std::ranges::find(strategies, strategy.name, &Strategy::name);
    if (same != strategies.end() && !strategy.name.empty()) {
      diagnostics.error(strategy.mark, "two strategies are named " + in_quotes(strategy.name));
    }
    strategies.push_back(std::move(strategy));
  }
  return strategies;
}

// Whether a diagnostic at `place` points into `text`.
bool stands_in(const Value& text, const Mark& place) {
  const auto here = [&](const Mark& mark) {
    return mark.source == place.source && mark.line == place.line && mark.column == place.column;
  };
  const auto inside = [&](const Value& value) { return stands_in(value, place); };
  return here(text.mark) || std::ranges::any_of(text.items, inside) ||
         std::ranges::any_of(text.entries, [&](const Entry& entry) {
           return here(entry.mark) || inside(entry.value);
         });
}

class Loader {
 public:
  Loader(const LoadLimits& limits, Diagnostics& diagnostics)
      : limits_(limits), diagnostics_(diagnostics), catalogue_(diagnostics), import_(diagnostics) {}

  // Files of the user's that were read on the way.
  std::vector<std::string> files() const {
    std::vector<std::string> names = catalogue_.user_files();
    const std::vector<std::string> models = import_.files();
    names.insert(names.end(), models.begin(), models.end());
    return names;
  }

  // What is written is checked even where every strategy overrides it.
  void check_sections(const Value& base) {
    for (const Entry& section : base.entries) read_section(section.key, section.value);
  }

  // One run, or nothing where something is wrong.
  std::optional<RunSpec> read_run(Value tree) {
    const std::size_t before = diagnostics_.reported();
    const auto section = [&](const char* name) {
      const Value* found = tree.find(name);
      return found != nullptr ? *found : empty_section(tree.mark);
    };
    for (const char* required : {"model", "hardware"}) {
      if (tree.find(required) == nullptr) {
        diagnostics_.error(tree.mark, "missing key " + in_quotes(required));
      }
    }
    RunSpec run;
    std::optional<ImportedModel> imported;
    for (Entry& entry : tree.entries) {
      if (entry.key != "model") continue;
      imported = import_.import(entry.value);
      if (!imported) break;
      entry.value = imported->model;
      run.model = read_model(entry.value, catalogue_, diagnostics_);
    }
    for (Entry& entry : tree.entries) {
      if (entry.key == "offload") entry.value = flatten_offload(entry.value, diagnostics_);
    }
    add_preset_checkpoint(tree);
    run.training = read_training(section("training"), diagnostics_);
    run.kernels = read_kernels(section("kernels"), diagnostics_);
    if (tree.find("hardware") != nullptr) {
      run.machine = read_hardware(section("hardware"), catalogue_, diagnostics_);
    }
    run.allocator = read_allocator(section("allocator"), diagnostics_);
    run.offload = read_offload(section("offload"), diagnostics_);
    CheckpointChoice choice =
        read_checkpoint(section("checkpoint"), run.model.layers, diagnostics_);
    run.checkpoint_policy = std::move(choice.policy);
    run.checkpoint_options = std::move(choice.options);
    run.checkpointing = std::move(choice.checkpointing);
    run.keep_last = choice.keep_last;
    if (run.training.sequence == 0) {
      run.training.sequence = std::min(run.model.max_positions, kDefaultSequence);
    }
    if (imported) check_window(*imported, run.model, run.training, diagnostics_);
    // What is in a file of the user's is reported when that is first read.
    const bool known = run.machine.gpu.capacity.count > 0 && run.model.heads > 0;
    if (known && diagnostics_.reported() == before) check_run(run, tree, limits_, diagnostics_);
    if (diagnostics_.reported() != before) return std::nullopt;
    return run;
  }

 private:
  void read_section(const std::string& name, const Value& value) {
    if (name == "model") {
      const std::optional<ImportedModel> imported = import_.import(value);
      if (imported) read_model(imported->model, catalogue_, diagnostics_);
    }
    if (name == "training") read_training(value, diagnostics_);
    if (name == "kernels") read_kernels(value, diagnostics_);
    if (name == "hardware") read_hardware(value, catalogue_, diagnostics_);
    if (name == "allocator") read_allocator(value, diagnostics_);
    if (name == "checkpoint") read_checkpoint(value, 0, diagnostics_);
    if (name == "offload") read_offload(value, diagnostics_);
  }

  const LoadLimits& limits_;
  Diagnostics& diagnostics_;
  Catalogue catalogue_;
  ModelImport import_;
};

// A strategy must not write what the sweep writes over.
void report_conflicts(const std::vector<Strategy>& strategies, const std::vector<SweptKey>& sweep,
                      Diagnostics& diagnostics) {
  for (const Strategy& strategy : strategies) {
    for (const SweptKey& swept : sweep) {
      const Value* written = find_at(strategy.sections, swept.key);
      if (written == nullptr) continue;
      diagnostics.error(written->mark, "strategy " + in_quotes(strategy.name) + " sets " +
                                           in_quotes(swept.key) + ", which the sweep varies");
    }
  }
}

// The runs of a scenario whose parts have been read: points outermost.
std::vector<RunSpec> read_runs(const Value& base, const std::vector<Strategy>& strategies,
                               const std::vector<SweptKey>& sweep,
                               const std::vector<SweptKey>& overrides, std::int64_t points,
                               Loader& loader, Diagnostics& diagnostics) {
  std::vector<RunSpec> runs;
  for (std::int64_t number = 0; number < points && !diagnostics.full(); ++number) {
    const std::vector<const Value*> values = point(sweep, number);
    for (const Strategy& strategy : strategies) {
      diagnostics.begin_strategy(strategy.name);
      Value tree = merge(base, strategy.sections);
      std::vector<std::pair<std::string, std::string>> written;
      for (std::size_t i = 0; i < sweep.size(); ++i) {
        set_at(tree, sweep[i].key, sweep[i].mark, *values[i]);
        written.emplace_back(sweep[i].key, write_flow(*values[i]));
      }
      for (const SweptKey& each : overrides) set_at(tree, each.key, each.mark, each.values[0]);
      std::optional<RunSpec> run = loader.read_run(std::move(tree));
      if (!run) continue;
      run->strategy = strategy.name;
      run->point = std::move(written);
      runs.push_back(std::move(*run));
    }
  }
  return runs;
}

}  // namespace

Scenario load(const Value& root, Diagnostics& diagnostics, const std::vector<Override>& overrides,
              const LoadLimits& limits) {
  if (root.kind == Value::Kind::kNull) diagnostics.throw_if_any();
  Reader reader(root, "", diagnostics);
  Scenario scenario;
  scenario.file = root.mark.source->name;
  scenario.name = read_name(reader.find("name"), diagnostics);
  const Value base = take_sections(reader);
  std::vector<Strategy> strategies = read_strategies(reader.require("strategies"), diagnostics);
  std::vector<SweptKey> sweep = read_sweep(reader.find("sweep"), diagnostics);
  reader.finish();
  if (scenario.name.empty()) scenario.name = scenario.file;

  const std::vector<SweptKey> sets = read_overrides(overrides, diagnostics);
  std::erase_if(sweep, [&](const SweptKey& swept) {  // the command line fixes what it sets
    return std::ranges::find(sets, swept.key, &SweptKey::key) != sets.end();
  });
  report_conflicts(strategies, sweep, diagnostics);
  for (const Strategy& strategy : strategies) scenario.strategies.push_back(strategy.name);
  if (!limits.strategies.empty()) {
    std::erase_if(strategies, [&](const Strategy& strategy) {
      return std::ranges::find(limits.strategies, strategy.name) == limits.strategies.end();
    });
  }
  const std::int64_t points = count_points(sweep, limits.runs);
  const auto strategy_count = static_cast<std::int64_t>(strategies.size());
  if (points * std::max<std::int64_t>(strategy_count, 1) > limits.runs) {
    diagnostics.error(root.find("sweep") != nullptr ? root.find("sweep")->mark : root.mark,
                      "too many runs: points of the sweep times strategies are more than " +
                          std::to_string(limits.runs));
    diagnostics.throw_if_any();
  }
  Loader loader(limits, diagnostics);
  loader.check_sections(base);
  scenario.runs = read_runs(base, strategies, sweep, sets, points, loader, diagnostics);
  diagnostics.leave_strategies_out([&](const Diagnostic& each) {
    return each.strategies.size() == scenario.strategies.size() ||
           std::ranges::any_of(strategies, [&](const Strategy& strategy) {
             return stands_in(strategy.sections, each.mark);
           });
  });
  diagnostics.throw_if_any();
  scenario.inputs = loader.files();
  scenario.inputs.insert(scenario.inputs.begin(), scenario.file);
  return scenario;
}

Scenario load(const std::shared_ptr<const Source>& source, const std::vector<Override>& overrides,
              const LoadLimits& limits) {
  Diagnostics diagnostics;
  return load(parse(source, diagnostics), diagnostics, overrides, limits);
}

Scenario load(const std::string& path, const std::vector<Override>& overrides,
              const LoadLimits& limits) {
  return load(read_source(path), overrides, limits);
}

}  // namespace tidemark::scenarios
