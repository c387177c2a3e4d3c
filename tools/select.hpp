#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.hpp"
#include "tools/commands/command.hpp"
#include "tools/output.hpp"

namespace tidemark::tools {

// Loads the files with their overrides and keeps the runs of the strategies that were asked for.
// Throws ScenarioError for a fault of a file, UserError for a strategy that no file has and for an
// output that is one of the files that were read (scenarios, and what they name) or another output.
std::vector<scenarios::Scenario> load_selected(const ScenarioArguments& arguments,
                                               std::span<const Output> outputs = {});

// The one run that there is. Throws UserError where there are several: "compare takes one strategy
// of one scenario", what chooses among them, strategies and points of the sweep apart.
const scenarios::RunSpec& the_only_run(std::span<const scenarios::Scenario> scenarios,
                                       std::string_view who_takes);

}  // namespace tidemark::tools
