#pragma once

#include "graph/model.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

// Forward, backward and optimizer of one step as the framework would issue them on one device.
// The input has been checked by the loader; what cannot be lowered is an InternalError.
// With UpdateOn::kElsewhere there are no optimizer ops, no master weights and no optimizer states;
// gradients stay until the end of the step unless something else takes them.
StepGraph lower(const LoweringInput& input);

// Ops and tensors that lower() would make, without making them: for refusing absurd sizes early.
// Never less than the truth, and within a factor of two of it.
std::int64_t estimate_ops(const LoweringInput& input);

}  // namespace tidemark
