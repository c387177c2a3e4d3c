#pragma once

#include "graph/offload.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// What section `offload` says at `activations` and at `parameters`. Keys that would do nothing
// beside the others are reported.
ActivationOffload read_activations(const Value& offload, Diagnostics& diagnostics);
ParameterOffload read_parameters(const Value& offload, Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
