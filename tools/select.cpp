#include "tools/select.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "hardware/decimal.hpp"
#include "scenarios/load.hpp"
#include "scenarios/suggest.hpp"
#include "tools/output.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {
namespace {

void refuse_unknown(const std::vector<std::string>& wanted,
                    const std::vector<scenarios::Scenario>& all) {
  std::vector<std::string_view> known;
  for (const scenarios::Scenario& scenario : all) {
    for (const std::string& name : scenario.strategies) {
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw UserError(fmt::format("unknown strategy {}: {}", in_quotes(name),
                                scenarios::suggestion(name, known)));
  }
}

std::vector<scenarios::Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<scenarios::Override> overrides;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UserError(fmt::format("--set {}: expected KEY=VALUE, such as training.micro_batch=4",
                                  in_quotes(text)));
    }
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return overrides;
}

Bytes physical_memory() {
  return Bytes(static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE));
}

// "--set training.micro_batch=4 (or 8, 16)": of every key that is swept.
std::string points_to_choose(const scenarios::Scenario& scenario) {
  std::string text;
  for (std::size_t k = 0; k < scenario.runs.front().point.size(); ++k) {
    std::vector<std::string> values;
    for (const scenarios::RunSpec& run : scenario.runs) {
      const std::string& value = run.point[k].second;
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
    text += fmt::format("\n  --set {}={}", scenario.runs.front().point[k].first, values.front());
    for (std::size_t v = 1; v < values.size(); ++v) {
      text += (v == 1 ? " (or " : ", ") + values[v];
    }
    if (values.size() > 1) text += ")";
  }
  return text;
}

}  // namespace

const scenarios::RunSpec& the_only_run(std::span<const scenarios::Scenario> scenarios,
                                       std::string_view who_takes) {
  if (scenarios.size() == 1 && scenarios.front().runs.size() == 1) {
    return scenarios.front().runs.front();
  }
  if (scenarios.size() != 1) throw UserError(fmt::format("{} one scenario", who_takes));
  const scenarios::Scenario& scenario = scenarios.front();
  std::vector<std::string_view> names;
  for (const scenarios::RunSpec& run : scenario.runs) {
    if (std::ranges::find(names, run.strategy) == names.end()) names.push_back(run.strategy);
  }
  std::string text;
  if (names.size() > 1) {
    text = fmt::format("{} one strategy; name it with --strategy:", who_takes);
    for (const std::string_view name : names) text += fmt::format("\n  {}", name);
  }
  if (names.size() < scenario.runs.size()) {
    text += names.size() > 1 ? "\nand one point of the sweep; choose it with"
                             : fmt::format("{} one point of the sweep; choose it with", who_takes);
    text += points_to_choose(scenario);
  }
  throw UserError(text);
}

std::vector<scenarios::Scenario> load_selected(const ScenarioArguments& arguments,
                                               std::span<const Output> outputs) {
  std::vector<scenarios::Scenario> all;
  refuse_same_target(outputs);
  for (const Output& output : outputs) {  // before anything that may be wrong with them
    refuse_overwriting(output.option, output.target, arguments.files);
  }
  const std::vector<scenarios::Override> overrides = parse_overrides(arguments.overrides);
  scenarios::LoadLimits limits;
  limits.memory = physical_memory();
  limits.strategies = arguments.strategies;
  for (const std::string& file : arguments.files) {
    all.push_back(scenarios::load(file, overrides, limits));
    for (const Output& output : outputs) {
      refuse_overwriting(output.option, output.target, all.back().inputs);
    }
  }
  if (arguments.strategies.empty()) return all;
  refuse_unknown(arguments.strategies, all);
  std::erase_if(all, [](const scenarios::Scenario& scenario) { return scenario.runs.empty(); });
  return all;
}

}  // namespace tidemark::tools
