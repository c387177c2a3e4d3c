#pragma once

#include "graph/step_graph.hpp"

namespace tidemark {

// Says of each tensor that is still among the temporaries whether it is one. What forward (or a
// replay) made and something still keeps when that pass's forward (or the replay) has ended is an
// activation (or recomputed); what the head and the loss make has a category of its own.
void sort_into_categories(StepGraph& graph);

}  // namespace tidemark
