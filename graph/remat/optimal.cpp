#include "graph/remat/optimal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/remat/ask_again.hpp"
#include "graph/remat/layered.hpp"
#include "graph/remat/plan.hpp"
#include "graph/remat/revolve.hpp"
#include "graph/remat/segments.hpp"

namespace tidemark::remat {

namespace {

constexpr std::size_t kRotorLevels = 1024;  // it has one table row for each interval of stages

}  // namespace

OptimalPlanner::OptimalPlanner(const Problem& problem, const Chain& blocks)
    : problem_(problem),
      blocks_(blocks),
      model_(model_of(problem, blocks)),
      plus_(rotor_plus_input(problem, chain_of_cuts(problem).value_or(blocks), blocks)),
      bound_(problem, blocks) {
  const std::vector<std::int64_t> bytes = saved_bytes(problem, blocks);
  std::int64_t most = 0;
  for (std::size_t n = 1; n <= blocks.size(); ++n) {
    add_segments(every(blocks.size(), n));
    add_segments(greedy_segments(bytes, most));
    most += bytes[n - 1];
    rules_.push_back({.checkpoints = static_cast<std::int64_t>(n)});
  }
  for (Rule& rule : rules_) rule.verdict = referee(problem, sequence_of(rule));
  std::ranges::stable_sort(rules_, {},
                           [](const Rule& rule) { return rule.verdict.recompute_time; });
}

void OptimalPlanner::add_segments(std::vector<std::size_t> segments) {
  if (std::ranges::find(rules_, segments, &Rule::segments) != rules_.end()) return;
  rules_.push_back({.segments = segments});
  rules_.push_back({.segments = std::move(segments), .last_keeps = true});
}

Sequence OptimalPlanner::sequence_of(const Rule& rule) const {
  if (rule.segments.empty()) return revolve(problem_, blocks_, rule.checkpoints);
  SegmentRule segments;
  segments.stages = rule.segments;
  segments.last_keeps = rule.last_keeps;
  return remat::sequence_of(problem_, plan_of(problem_, blocks_, segments));
}

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
  std::optional<std::int64_t> least_of_layers;  // of choices for the budget itself
  const auto layers = within_budget(
      problem_, budget,
      [&](std::int64_t asked) -> std::optional<Sequence> {
        const auto choice = layered(model_, asked, levels);
        if (!choice) return std::nullopt;
        if (!least_of_layers) least_of_layers = choice->at_least;
        return remat::sequence_of(problem_, plan_of(problem_, blocks_, model_, *choice));
      },
      [](const Sequence& found) -> const Sequence& { return found; });
  if (layers) offer(*layers, "layered", *least_of_layers);
  if (best && best->verdict.recompute_time <= *bound) return best;
  for (const Rule& rule : rules_) {
    if (rule.verdict.peak > budget) continue;
    if (!best || rule.verdict.recompute_time < best->verdict.recompute_time) {
      offer(sequence_of(rule), rule.segments.empty() ? "revolve" : "segments",
            rule.verdict.recompute_time);
    }
    break;
  }
  if (auto choice = rotor_within(problem_, plus_, budget, std::min(levels, kRotorLevels))) {
    // Floats carry seven digits of the table's costs.
    offer(std::move(choice->sequence), "rotor+",
          static_cast<std::int64_t>(std::floor(choice->at_least * (1 - 1e-5))));
  }
  return best;
}

}  // namespace tidemark::remat
