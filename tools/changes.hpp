#pragma once
// What Tidemark knows to change about a run that needs too much memory or has some to spare, as
// data. A change is what a user would write into the scenario, and is applied by the loader: what
// is printed is what is simulated.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "scenarios/scenario.hpp"

namespace tidemark::tools {

struct Change {
  std::string words;                           // "keep the optimizer states in host memory"
  std::vector<scenarios::Override> overrides;  // {"offload.optimizer", "host"}
  bool alters_training = false;                // another precision, optimizer or context
  std::string instead = {};  // the policy of the run whose place it takes; empty: none
};

// Every change that may need less memory, that the run could make and has not made, in the order of
// the table. Left out: what its architecture or precision does not have, and checkpoint policies
// that come to the same segments as the run's own or as one before them.
std::vector<Change> changes_for(const scenarios::RunSpec& run);

// The other way round: what takes more memory and may save time, for a run that has some to spare.
// Training stays as it is.
std::vector<Change> loosenings_for(const scenarios::RunSpec& run);

// The run with all of the changes; its strategy and point stay. Nothing where the loader refuses
// the result, or where it is the same run.
std::optional<scenarios::RunSpec> with_changes(const scenarios::RunSpec& run,
                                               std::span<const Change> changes);

// Whether two changes write the same key.
bool exclude_each_other(const Change& a, const Change& b);

// Lines for a strategy, a section each: "kernels: {attention: flash, loss: native}".
std::vector<std::string> as_yaml(std::span<const Change> changes);

}  // namespace tidemark::tools
