#pragma once

#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// Refuses keys of `offload` that say nothing, or contradict others; `tree` is the run's, for the
// places.
void check_offload(const RunSpec& run, const Value& tree, Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
