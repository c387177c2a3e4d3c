#pragma once
// Checkpoint policies that plan an order of ops. Those that plan for a budget plan by a proxy of a
// step's memory, so the budget that they are given is corrected by simulation: a search for the
// largest proxy budget whose plan stays within the budget of HBM as it is simulated, in the first
// and in later steps, with temporaries and the allocator's rounding.
//
//   simulated peak = proxy's peak + an offset that changes little from plan to plan
//
// The next proxy budget is what the last plan's offset leaves of the budget; where that leads
// nowhere new, the middle between what fits and what does not.

#include <memory>
#include <optional>

#include "graph/policies/policy.hpp"
#include "scenarios/scenario.hpp"
#include "tools/placement_note.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

// Steps of a run without recomputation and what planners see of them: for all policies alike.
struct PlanningBase {
  StepGraph first, steady;
  remat::StepProblem step;  // of `steady`
};

std::shared_ptr<const PlanningBase> planning_base(const scenarios::RunSpec& run);

// One policy with one set of options, for any number of budgets; several threads may use it.
class Placer {
 public:
  // `base` is of `run`, whose policy has a planner.
  Placer(std::shared_ptr<const PlanningBase> base, const scenarios::RunSpec& run);

  // `run` is as that of the constructor but for its budget.
  Steps place(const scenarios::RunSpec& run) const;

 private:
  std::shared_ptr<const PlanningBase> base_;
  const Policy* policy_;
  Planner planner_;
  double setup_seconds_ = 0;
};

}  // namespace tidemark::tools
