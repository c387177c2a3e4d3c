#include "graph/remat/revolve.hpp"

#include <cstdint>
#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/referee.hpp"

namespace tidemark {

PlannerFn plan_revolve;

// Options: budget. As many checkpoints as fit: more of them never run more again.
Planner plan_revolve(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  return [&problem, chain = *chain](std::int64_t budget) -> std::optional<Placement> {
    for (auto n = static_cast<std::int64_t>(chain.size()); n > 0; --n) {
      remat::Sequence sequence = remat::revolve(problem, chain, n);
      if (remat::referee(problem, sequence).peak <= budget) return Placement{std::move(sequence)};
    }
    return std::nullopt;
  };
}

}  // namespace tidemark
