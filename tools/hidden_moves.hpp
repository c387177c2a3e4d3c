#pragma once
// `offload.activations: {when: fits_in_window}` beside other traffic. What fits is chosen ahead of
// the run as if nothing else moved (graph/offload/windows.hpp); where states, gradients or
// parameters move as well, how much of that stays unseen is found by simulation.

#include "graph/offload.hpp"
#include "graph/step_graph.hpp"
#include "scenarios/scenario.hpp"

namespace tidemark::tools {

// The offload of `run`, whose steady step is `graph`: activations are chosen as if their copies went
// at a share of the link's rate, the largest of 64 with which the simulated step takes a thousandth
// longer than without at most. As it is where there is no such option, or nothing else moves.
Offload with_hidden_moves(const scenarios::RunSpec& run, const StepGraph& graph);

}  // namespace tidemark::tools
