#pragma once
// What each stage of a chain keeps, by integer programming with CBC: for steps that are too large
// for the program of ilp.hpp.
//
// K[v]: tensor v stays from forward to backward; R[i]: op i runs again, at most once.
//
//   least sum of cost(i) R[i]        K[v] + R[maker of v] >= 1          v that backward reads
//   sum of bytes(v) K[v] <= room     K[v] + R[maker of v] >= R[i]       v that i reads
//
// Every stage's output stays. R of an op that may not run again is 0.

#include <cstdint>
#include <optional>

#include "graph/remat/chain.hpp"
#include "graph/remat/plan.hpp"

namespace tidemark::remat {

// The plan found within `limit_seconds` of processor time and one thousandth of the least cost;
// nothing: no such plan, or none in time. `room`: bytes beside what stays in any case. Throws
// std::logic_error where has_ilp() (ilp.hpp) is false.
std::optional<Plan> keep_by_ilp(const Problem& problem, const Chain& chain, std::int64_t room,
                                double limit_seconds);

// The same for a budget of the referee's: from the room that keeping everything would leave, `room`
// is made smaller until the plan's peak is within the budget.
std::optional<Sequence> plan_keeps_by_ilp(const Problem& problem, const Chain& chain,
                                          std::int64_t budget, double limit_seconds);

}  // namespace tidemark::remat
