#include "graph/remat/revolve.hpp"

#include <cstdint>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/referee.hpp"

namespace tidemark {

PlannerFn plan_revolve;

// Options: budget. As many checkpoints as fit: more of them never run more again.
Planner plan_revolve(const remat::Problem& problem, const PolicyInput&) {
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  return [&problem, chain = *chain](std::int64_t budget) -> std::optional<remat::Sequence> {
    for (auto n = static_cast<std::int64_t>(chain.size()); n > 0; --n) {
      remat::Sequence sequence = remat::revolve(problem, chain, n);
      if (remat::referee(problem, sequence).peak <= budget) return sequence;
    }
    return std::nullopt;
  };
}

}  // namespace tidemark
