#include "graph/remat/optimal.hpp"

#include <algorithm>
#include <cmath>

#include "graph/remat/layered.hpp"
#include "graph/remat/plan.hpp"

namespace tidemark::remat {

namespace {

constexpr std::size_t kRotorLevels = 1024;  // it has one table row for each interval of stages

}  // namespace

OptimalPlanner::OptimalPlanner(const Problem& problem, const Chain& blocks)
    : problem_(problem),
      blocks_(blocks),
      model_(model_of(problem, blocks)),
      plus_(rotor_plus_input(problem, chain_of_cuts(problem).value_or(blocks), blocks)),
      bound_(problem, blocks) {}

std::optional<BestPlan> OptimalPlanner::plan(std::int64_t budget, std::size_t levels) const {
  const std::optional<std::int64_t> bound = bound_(budget);
  if (!bound) return {};
  std::optional<BestPlan> best;
  const auto offer = [&](Sequence sequence, std::string_view method, std::int64_t at_least) {
    const Verdict verdict = referee(problem_, sequence);
    if (!verdict.valid() || verdict.peak > budget) return;
    if (best && best->verdict.recompute_time <= verdict.recompute_time) return;
    best = BestPlan{.sequence = std::move(sequence),
                    .verdict = verdict,
                    .method = method,
                    .bound = *bound,
                    .discretisation = std::max<std::int64_t>(verdict.recompute_time - at_least, 0)};
  };
  offer(keep_everything(problem_), "none", 0);
  if (best) return best;
  if (const auto choice = layered(model_, budget, levels)) {
    offer(sequence_of(problem_, plan_of(problem_, blocks_, model_, *choice)), "layered",
          choice->at_least);
  }
  if (best && best->verdict.recompute_time <= *bound) return best;
  if (auto choice = rotor(problem_, plus_, budget, std::min(levels, kRotorLevels))) {
    // Floats carry seven digits of the table's costs.
    offer(std::move(choice->sequence), "rotor+",
          static_cast<std::int64_t>(std::floor(choice->at_least * (1 - 1e-5))));
  }
  return best;
}

}  // namespace tidemark::remat
