#pragma once
// An Offload as a whole: what lower() is asked for, what leaves HBM, and all that moves.

#include "graph/model.hpp"
#include "graph/offload.hpp"
#include "graph/offload/mover.hpp"
#include "graph/offload/stays.hpp"

namespace tidemark {

// Sets the parts of `input` that follow from where states and gradients are.
void ask_for(const Offload& offload, LoweringInput& input);

// Of a step lowered so.
Stays stays_of(const StepGraph& graph);

// Adds all transfers and CPU work to the mover's program, in which instance i already plays op i
// and buffer i holds tensor i.
void move_all(Mover& mover, const Stays& stays, const TrainingConfig& training,
              const Offload& offload);

}  // namespace tidemark
