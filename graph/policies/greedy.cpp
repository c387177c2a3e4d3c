#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/plan.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/segments.hpp"

namespace tidemark {

PlannerFn plan_greedy;

// Options: budget. Chen et al., arXiv:1604.06174, algorithm 3: walk along the network and end a
// segment where what it would keep passes b bytes; of all b the one that takes least time within
// the budget. One b for each number of first stages that a segment may hold.
Planner plan_greedy(const PlannerInput& input) {
  const remat::Problem& problem = input.step.problem;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  struct Candidate {
    remat::Sequence sequence;
    remat::Verdict verdict;
  };
  std::vector<Candidate> candidates;
  const auto add = [&](remat::Sequence sequence) {
    const remat::Verdict verdict = remat::referee(problem, sequence);
    candidates.push_back({std::move(sequence), verdict});
  };
  add(remat::keep_everything(problem));
  const std::vector<std::int64_t> bytes = remat::saved_bytes(problem, *chain);
  std::int64_t most = 0;  // a segment of one stage passes it
  for (std::size_t stages = 0; stages < chain->size(); ++stages) {
    remat::SegmentRule rule;
    rule.stages = remat::greedy_segments(bytes, most);
    add(remat::sequence_of(problem, remat::plan_of(problem, *chain, rule)));
    most += bytes[stages];
  }
  return [candidates = std::move(candidates)](std::int64_t budget) -> std::optional<Placement> {
    const Candidate* best = nullptr;
    for (const Candidate& each : candidates) {
      if (each.verdict.peak > budget) continue;
      if (best == nullptr || each.verdict.time < best->verdict.time) best = &each;
    }
    if (best == nullptr) return std::nullopt;
    return Placement{best->sequence};
  };
}

}  // namespace tidemark
