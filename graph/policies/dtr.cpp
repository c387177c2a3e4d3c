#include "graph/remat/dtr.hpp"

#include <utility>

#include "graph/policies/policy.hpp"
#include "graph/remat/ask_again.hpp"

namespace tidemark {

PlannerFn plan_dtr;
RuntimeFn run_dtr;

namespace {

// Options: budget, heuristic.
remat::DtrScore score_of(std::span<const PolicyOption> options) {
  return remat::kDtrScores[static_cast<std::size_t>(options[1].integer)].score;
}

}  // namespace

// It sees one op at a time and knows no more of what follows than that a tensor is of no use any
// more.
remat::DtrRun run_dtr(const remat::Problem& problem, std::span<const PolicyOption> options) {
  return {problem, score_of(options)};
}

Planner plan_dtr(const PlannerInput& input) {
  const remat::DtrScore score = score_of(input.options);
  const remat::Problem& problem = input.step.problem;
  return [&problem, score](std::int64_t budget) -> std::optional<Placement> {
    auto result = remat::within_budget(
        problem, budget,
        [&](std::int64_t bytes) { return remat::dtr(problem, bytes, score).sequence; },
        [](const auto& sequence) -> const remat::Sequence& { return sequence; });
    if (!result) return std::nullopt;
    return Placement{std::move(*result), "ahead of time"};
  };
}

}  // namespace tidemark
