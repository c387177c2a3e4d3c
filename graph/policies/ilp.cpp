#include "graph/remat/ilp.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/keep_ilp.hpp"
#include "graph/remat/optimal.hpp"
#include "graph/remat/referee.hpp"

namespace tidemark {

PlannerFn plan_ilp;

namespace {

constexpr std::uint32_t kMostOps = 60;  // of a step whose whole schedule is one integer program

Placement placement_of_step(const remat::Problem& problem, std::int64_t budget, double seconds,
                            const remat::BestPlan& start) {
  remat::IlpResult result = remat::plan_by_ilp(problem, budget, seconds, &start.sequence);
  const std::int64_t bound = std::max(start.bound, result.bound);
  return {std::move(*result.sequence), "whole schedule", bound};
}

Placement placement_of_blocks(const remat::Problem& problem, const remat::Chain& chain,
                              std::int64_t budget, double seconds, remat::BestPlan start) {
  auto sequence = remat::plan_keeps_by_ilp(problem, chain, budget, seconds);
  if (sequence &&
      remat::referee(problem, *sequence).recompute_time < start.verdict.recompute_time) {
    return {std::move(*sequence), "keep sets", start.bound};
  }
  return {std::move(start.sequence), start.method, start.bound};
}

}  // namespace

// Options: budget, time_limit. Starts from the plan of `optimal`, so it is never worse.
Planner plan_ilp(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  auto planner = std::make_shared<const remat::OptimalPlanner>(problem, *chain);
  const double seconds = static_cast<double>(input.options[1].integer) * 1e-12;
  return [&problem, chain = *chain, planner = std::move(planner),
          seconds](std::int64_t budget) -> std::optional<Placement> {
    auto start = planner->plan(budget);
    if (!start || start->verdict.recompute_time <= start->bound) {
      if (!start) return std::nullopt;
      return Placement{std::move(start->sequence), start->method, start->bound};
    }
    if (problem.op_count() <= kMostOps) {
      return placement_of_step(problem, budget, seconds, *start);
    }
    return placement_of_blocks(problem, chain, budget, seconds, std::move(*start));
  };
}

}  // namespace tidemark
