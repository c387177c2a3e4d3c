#pragma once
// An Offload as a whole: what lower() is asked for, what leaves HBM, and all that moves.

#include <vector>

#include "graph/model.hpp"
#include "graph/offload.hpp"
#include "graph/offload/departures.hpp"
#include "graph/offload/mover.hpp"

namespace tidemark {

// Sets the parts of `input` that follow from where states and gradients are.
void ask_for(const Offload& offload, LoweringInput& input);

// The gradients and states that leave in a step lowered so.
Departures departures_of(const StepGraph& graph, const Offload& offload);

// Adds all transfers and CPU work for gradients, states and updates to the mover's program, in
// which instance i already plays op i and buffer i holds tensor i. `parameter_reads`: what
// fetch_parameters() returns.
void move_all(Mover& mover, const Departures& departures, const Stays& stays,
              const TrainingConfig& training, const Offload& offload,
              const std::vector<InstanceId>& parameter_reads);

}  // namespace tidemark
