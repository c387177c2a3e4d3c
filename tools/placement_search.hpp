#pragma once
// The search for the largest proxy budget whose plan stays within the budget of HBM as it is
// simulated, in the first and in later steps, with temporaries and the allocator's rounding.
//
//   simulated peak = proxy's peak + an offset that changes little from plan to plan
//
// The next proxy budget is what the last plan's offset leaves of the budget; where that leads
// nowhere new, the middle between what fits and what does not. A policy that runs in the executor
// is given the budget itself, and less by what its plan is above it: an allocator's cache, or the
// first step, may need more.

#include "graph/policies/policy.hpp"
#include "scenarios/scenario.hpp"
#include "tools/placement_trials.hpp"

namespace tidemark::tools {

// Of HBM, as the run's policy states it; else what the GPU has.
Bytes budget_of(const scenarios::RunSpec& run);

struct FoundPlan {
  remat::Sequence sequence;
  std::vector<remat::TensorIndex> moved;  // of the problem, to the host
  SimTime time{};                         // of the steady step
  PlacementNote note;                     // times of one pass
};

// What is within the budget comes first, then what is faster; of what is not, what needs less.
bool is_better(const FoundPlan& plan, const FoundPlan& than);

inline constexpr int kMostPlansTried = 15;

// What a planner's budget is of: what its plan is made by.
enum class BudgetOf : char { kReferee, kHbm };

FoundPlan find_plan(const PlanningBase& base, const Planner& planner, const scenarios::RunSpec& run,
                    int most_tried = kMostPlansTried, BudgetOf budgets = BudgetOf::kReferee);

}  // namespace tidemark::tools
