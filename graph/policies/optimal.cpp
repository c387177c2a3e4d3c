#include "graph/remat/optimal.hpp"

#include <memory>
#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"

namespace tidemark {

PlannerFn plan_optimal;

// Options: budget.
Planner plan_optimal(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const auto blocks = remat::chain_of_blocks(problem);
  if (!blocks) return [](std::int64_t) { return std::nullopt; };
  auto planner = std::make_shared<const remat::OptimalPlanner>(problem, *blocks);
  return [planner = std::move(planner)](std::int64_t budget) -> std::optional<Placement> {
    auto best = planner->plan(budget);
    if (!best) return std::nullopt;
    return Placement{std::move(best->sequence), best->method, best->bound};
  };
}

}  // namespace tidemark
