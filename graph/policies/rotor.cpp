#include "graph/remat/rotor.hpp"

#include <memory>
#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/referee.hpp"

namespace tidemark {

PlannerFn plan_rotor, plan_rotor_plus;

namespace {

constexpr std::size_t kLevelsOfPlus = 1024;

Planner planner_of(const remat::Problem& problem, remat::RotorInput input, std::size_t levels) {
  auto shared = std::make_shared<const remat::RotorInput>(std::move(input));
  return [&problem, levels,
          input = std::move(shared)](std::int64_t budget) -> std::optional<Placement> {
    remat::Sequence everything = remat::keep_everything(problem);  // a schedule of this kind
    if (remat::referee(problem, everything).peak <= budget) return Placement{std::move(everything)};
    auto choice = remat::rotor_within(problem, *input, budget, levels);
    if (!choice) return std::nullopt;
    return Placement{std::move(choice->sequence)};
  };
}

}  // namespace

// Options: budget. Memory in 500 levels, as in the paper.
Planner plan_rotor(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  return planner_of(problem, remat::rotor_input(problem, *chain), 500);
}

// Options: budget.
Planner plan_rotor_plus(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const auto blocks = remat::chain_of_blocks(problem);
  if (!blocks) return [](std::int64_t) { return std::nullopt; };
  const remat::Chain parts = remat::chain_of_cuts(problem).value_or(*blocks);
  return planner_of(problem, remat::rotor_plus_input(problem, parts, *blocks), kLevelsOfPlus);
}

}  // namespace tidemark
