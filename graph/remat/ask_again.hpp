#pragma once

#include <cstdint>
#include <optional>

#include "graph/remat/problem.hpp"
#include "graph/remat/referee.hpp"

namespace tidemark::remat {

// What `plan(bytes)` finds, an optional with a member or element that `sequence(found)` returns:
// asked for the budget, and for less as long as the referee's peak is above the budget. Planners of
// chains look at one stage at a time and can miss bytes that live across two.
template <class PlanFn, class SequenceFn>
auto within_budget(const Problem& problem, std::int64_t budget, const PlanFn& plan,
                   const SequenceFn& sequence) -> decltype(plan(budget)) {
  constexpr int kTries = 6;
  std::int64_t asked = budget;
  for (int i = 0; i < kTries; ++i) {
    auto found = plan(asked);
    if (!found) return {};
    const std::int64_t peak = referee(problem, sequence(*found)).peak;
    if (peak <= budget) return found;
    asked -= peak - budget;
  }
  return {};
}

}  // namespace tidemark::remat
