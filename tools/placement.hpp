#pragma once
// Checkpoint policies that plan an order of ops. Those that plan for a budget plan by a proxy of a
// step's memory, so the budget that they are given is corrected by simulation.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/policies/policy.hpp"
#include "scenarios/scenario.hpp"
#include "tools/placement_search.hpp"
#include "tools/placement_trials.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

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
  FoundPlan best_plan(const scenarios::RunSpec& run) const;

  Planner planner_;  // moves nothing
  BudgetOf budgets_ = BudgetOf::kReferee;
  std::optional<remat::Moves> moves_;
  std::optional<Planner> mover_;  // moves some of them
  std::vector<std::pair<std::string, Planner>> rivals_;
  double setup_seconds_ = 0;
};

}  // namespace tidemark::tools
