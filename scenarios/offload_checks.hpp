#pragma once

#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// The checkpoint policy chooses which activations move.
bool policy_moves_activations(const RunSpec& run);

// Refuses keys of `offload` that say nothing, or contradict others; `tree` is the run's, for the
// places.
void check_offload(const RunSpec& run, const Value& tree, Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
