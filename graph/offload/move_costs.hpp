#pragma once

#include "graph/machine_paths.hpp"
#include "graph/remat/from_step.hpp"
#include "graph/remat/moves.hpp"
#include "graph/step_graph.hpp"
#include "hardware/machine.hpp"

namespace tidemark {

// For planners: of the step's problem, what moving activations to the host would move
// (saved_tensors.hpp), and how long its copies take: out in forward and back in backward, they do
// not meet. The room on the host is what the machine has; whoever knows what else lies there takes
// it off.
remat::Moves moves_to_host(const StepGraph& graph, const remat::StepProblem& step,
                           const Machine& machine, const Transport& transport);

}  // namespace tidemark
