#pragma once
// Keys of the section hardware that say nothing beside the others, as written in a scenario. In a
// device file they are figures of the device and may stand unused.

#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// Reports the first. `tree` is the run's own, short forms as they were written.
void check_hardware(const RunSpec& run, const Value& tree, Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
