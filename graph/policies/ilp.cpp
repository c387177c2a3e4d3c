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
  auto found = remat::plan_keeps_by_ilp(problem, chain, budget, seconds);
  if (found &&
      remat::referee(problem, found->sequence).recompute_time < start.verdict.recompute_time) {
    return {std::move(found->sequence), "keep sets", start.bound};
  }
  return {std::move(start.sequence), start.method, start.bound};
}

}  // namespace

// Options: budget, time_limit, move. Starts from the plan of `optimal`, so it is never worse. With
// moves it is another planner, whose plans are to be held against those without by simulation.
Planner plan_ilp(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  const double seconds = static_cast<double>(input.options[1].integer) * 1e-12;
  if (input.moves != nullptr) {
    return [&problem, &moves = *input.moves, chain = *chain,
            seconds](std::int64_t budget) -> std::optional<Placement> {
      auto found = remat::plan_keeps_by_ilp(problem, chain, budget, seconds, &moves);
      if (!found) return std::nullopt;
      return Placement{std::move(found->sequence), "keep and move sets", found->bound,
                       std::move(found->moved), found->cost};
    };
  }
  auto planner = std::make_shared<const remat::OptimalPlanner>(problem, *chain);
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
