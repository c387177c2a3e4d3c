#pragma once
// The best plan that is known for a budget, and how far from the best possible it can be.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/cut_bound.hpp"
#include "graph/remat/problem.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/rotor.hpp"
#include "graph/remat/stage_model.hpp"

namespace tidemark::remat {

struct BestPlan {
  Sequence sequence;
  Verdict verdict;          // peak within the budget
  std::string_view method;  // "none", "layered", "rotor+", or of the rules "segments", "revolve"
  // No sequence within the budget recomputes less, whatever planned it (cut_bound.hpp).
  std::int64_t bound = 0;
  // What counting memory in whole levels can have cost: the method would recompute at most this
  // much less (picoseconds) if it counted bytes.
  std::int64_t discretisation = 0;
};

class OptimalPlanner {
 public:
  // The problem must outlive the planner.
  OptimalPlanner(const Problem& problem, const Chain& blocks);

  // Nothing: no known plan fits; see needs_at_least() for what can be said of the budget.
  std::optional<BestPlan> plan(std::int64_t budget, std::size_t levels = 4096) const;

  const CutBound& bound() const { return bound_; }

 private:
  // Segments, equal or by Chen's greedy, or Revolve: planners of chains count memory in levels and
  // a stage's most at once, so that at the tightest budgets they can miss what a rule reaches.
  struct Rule {
    std::vector<std::size_t> segments{};  // stages in each; none: Revolve
    bool last_keeps = false;              // of segments
    std::int64_t checkpoints = 0;         // of Revolve
    Verdict verdict{};
  };
  void add_segments(std::vector<std::size_t> segments);
  Sequence sequence_of(const Rule& rule) const;

  const Problem& problem_;
  Chain blocks_;
  ChainModel model_;
  RotorInput plus_;
  CutBound bound_;
  std::vector<Rule> rules_;  // in order of their recomputation
};

}  // namespace tidemark::remat
