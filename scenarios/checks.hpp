#pragma once
// What no single key can tell: whether the values of a run go together.

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/model.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/load.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// Why a key of `model` or `kernels` says nothing for an architecture: "llama has no dropout".
// Empty: it does say something.
std::string_view why_meaningless(Architecture architecture, std::string_view dotted_key);

// Reports keys that contradict one another or say nothing, sizes whose products overflow, and steps
// that this machine could not hold. `tree` is what the run was read from, for the places.
void check_run(const RunSpec& run, const Value& tree, const LoadLimits& limits,
               Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
