#include <memory>
#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/layered.hpp"
#include "graph/remat/plan.hpp"

namespace tidemark {

PlannerFn plan_layered;

// Options: budget, greedy.
Planner plan_layered(const remat::Problem& problem, const PolicyInput& input) {
  const bool greedy = input.options[1].integer != 0;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  auto model = std::make_shared<const remat::ChainModel>(remat::model_of(problem, *chain));
  return [&problem, chain = *chain, model = std::move(model),
          greedy](std::int64_t budget) -> std::optional<remat::Sequence> {
    const auto choice =
        greedy ? remat::layered_greedy(*model, budget) : remat::layered(*model, budget);
    if (!choice) return std::nullopt;
    return remat::sequence_of(problem, remat::plan_of(problem, chain, *model, *choice));
  };
}

}  // namespace tidemark
