#pragma once
// Keep, recompute, or move to the host or the SSD: all chosen together, by simulation.
//
//   a recompute planner's budget:   tight  |....|....|....|....|  keeps everything
//   what is still above the budget of HBM:  nothing          most of it     -> moves
//
// For each of several budgets of the recompute planner, the fewest bytes of saved tensors that have
// to move for the step to stay within the budget of HBM, and all that can move without the GPU
// waiting; the fastest of all these steps, and of the plans that only recompute, is taken, and its
// neighbourhood searched once more. So it is never slower than recomputing alone, nor than moving
// alone. Tensors that are saved first move first, to the host; what the host has no room for goes
// to the SSD.

#include "graph/offload.hpp"
#include "tools/placement_search.hpp"

namespace tidemark::tools {

// From `start`, the best plan that only recomputes. `moves`: those of the plan found.
FoundPlan find_hybrid(const PlanningBase& base, const Planner& planner,
                      const scenarios::RunSpec& run, FoundPlan start, ActivationOffload& moves);

}  // namespace tidemark::tools
