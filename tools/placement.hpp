#pragma once
// Checkpoint policies that plan for a budget. They plan by a proxy of a step's memory, so the
// budget that they are given is corrected by simulation: bisection for the largest proxy budget
// whose plan stays within the budget of HBM as it is simulated, in the first and in later steps,
// with temporaries and the allocator's rounding.

#include <cstdint>

#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

// What the search found; of a run whose policy plans for a budget.
struct PlacementNote {
  Bytes budget;         // of HBM
  Bytes peak;           // of HBM, simulated, reserved by the allocator where it caches
  Bytes proxy;          // what the planner was given in the end
  int simulations = 0;  // of both steps
  bool met = false;     // false: the plan is the one that needs least, and needs more than budget
};

Steps place_within_budget(const scenarios::RunSpec& run);

}  // namespace tidemark::tools
