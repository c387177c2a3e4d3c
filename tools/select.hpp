#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.hpp"
#include "tools/commands/command.hpp"

namespace tidemark::tools {

// Where an option writes to; an empty target is none.
struct Output {
  std::string_view option;
  std::string target;
};

// Loads the files with their overrides and keeps the runs of the strategies that were asked for.
// Throws ScenarioError for a fault of a file, UserError for a strategy that no file has and for an
// output that is one of the files that were read: scenarios, and what they name.
std::vector<scenarios::Scenario> load_selected(const ScenarioArguments& arguments,
                                               std::span<const Output> outputs = {});

}  // namespace tidemark::tools
