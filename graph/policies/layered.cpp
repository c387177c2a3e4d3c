#include <memory>
#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/ask_again.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/layered.hpp"
#include "graph/remat/plan.hpp"
#include "graph/remat/referee.hpp"

namespace tidemark {

PlannerFn plan_layered;

// Options: budget, greedy.
Planner plan_layered(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const bool greedy = input.options[1].integer != 0;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  auto model = std::make_shared<const remat::ChainModel>(remat::model_of(problem, *chain));
  return [&problem, chain = *chain, model = std::move(model),
          greedy](std::int64_t budget) -> std::optional<Placement> {
    remat::Sequence everything = remat::keep_everything(problem);  // a plan of this kind
    if (remat::referee(problem, everything).peak <= budget) return Placement{std::move(everything)};
    const auto plan = [&](std::int64_t asked) -> std::optional<Placement> {
      const auto choice =
          greedy ? remat::layered_greedy(*model, asked) : remat::layered(*model, asked);
      if (!choice) return std::nullopt;
      return Placement{
          remat::sequence_of(problem, remat::plan_of(problem, chain, *model, *choice))};
    };
    return remat::within_budget(
        problem, budget, plan,
        [](const Placement& found) -> const remat::Sequence& { return found.sequence; });
  };
}

}  // namespace tidemark
