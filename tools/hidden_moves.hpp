#pragma once
// `offload.activations: {when: fits_in_window}` beside other traffic. What fits is chosen ahead of
// the run as if nothing else moved (graph/offload/windows.hpp); where states, gradients or
// parameters move as well, how much of that stays unseen is found by simulation.

#include "graph/offload.hpp"
#include "graph/step_graph.hpp"
#include "scenarios/scenario.hpp"

namespace tidemark::tools {

// The offload of `run`, whose steady step is `graph`: with the largest share of those activations
// (a 64th is not looked into), in the order in which they are saved, with which the simulated step
// takes no longer than without. As it is where there is no such option, or nothing else moves.
Offload with_hidden_moves(const scenarios::RunSpec& run, const StepGraph& graph);

}  // namespace tidemark::tools
