#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/scenario.hpp"
#include "tools/commands/command.hpp"

namespace tidemark::tools {

// Loads the files with their overrides and keeps the runs of the strategies that were asked for.
// Throws ScenarioError for a fault of a file, UserError for a strategy that no file has.
std::vector<scenarios::Scenario> load_selected(const ScenarioArguments& arguments);

}  // namespace tidemark::tools
