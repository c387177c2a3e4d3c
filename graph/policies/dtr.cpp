#include "graph/remat/dtr.hpp"

#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/ask_again.hpp"

namespace tidemark {

PlannerFn plan_dtr;

// Options: budget, heuristic. The runtime sees one op at a time and knows no more of what follows
// than that a tensor is not read again.
Planner plan_dtr(const PlannerInput& input) {
  const auto row = static_cast<std::size_t>(input.options[1].integer);
  const remat::DtrScore score = remat::kDtrScores[row].score;
  const remat::Problem& problem = input.step.problem;
  return [&problem, score](std::int64_t budget) -> std::optional<Placement> {
    auto result = remat::within_budget(
        problem, budget,
        [&](std::int64_t bytes) { return remat::dtr(problem, bytes, score).sequence; },
        [](const auto& sequence) -> const remat::Sequence& { return sequence; });
    if (!result) return std::nullopt;
    return Placement{std::move(*result)};
  };
}

}  // namespace tidemark
