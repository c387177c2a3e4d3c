#pragma once
// What each stage of a chain keeps, and what of it moves to the host, by integer programming with
// CBC: for steps that are too large for the program of ilp.hpp, and for all where tensors may move.
//
// K[v]: tensor v stays from forward to backward; M[v]: it is on the host in between; R[i]: op i
// runs again, at most once; W[s]: the GPU waits for what the backward of stage s reads.
//
//   least sum of cost(i) R[i] + sum of W[s]
//
//   K[v] + M[v] + R[maker of v] >= 1          v that backward reads
//   K[v] + M[v] + R[maker of v] >= R[i]       v that i reads
//   sum of bytes(v) K[v], and of M[v] what is back for s and s - 1 <= room
//                                             v of s and stages in front, each s
//   sum of bytes(v) M[v] <= room on the host
//   sum of out(v) M[v] <= time from stage s on to backward            v made in s and behind, each
//   s sum of in(v) M[v]  <= time of the backward of stage s + 1, what runs again in it, and W[s]
//                                                                     v that s reads first, each s
//
// Every stage's output stays or moves. R of an op that may not run again is 0. Without moves, M and
// W are 0. As POET (Patil et al., ICML 2022) and OffMate have it, per stage: copies run beside
// kernels; those out have ended when backward begins, since a GPU with room waits for none; those
// back begin one stage ahead, as the simulated step's do, and the GPU waits for them.

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/moves.hpp"
#include "graph/remat/plan.hpp"

namespace tidemark::remat {

struct KeepChoice {
  Plan plan;  // what moves counts as kept
  std::vector<TensorIndex> moved;
  // Picoseconds: what the program counts it to cost, and what no other choice costs less than.
  std::int64_t cost = 0, bound = 0;
};

// The choice found within `limit_seconds` of processor time, and one thousandth of the least cost
// or, with moves, of the time of all ops; nothing: there is none, or none in time. `room`: bytes
// beside what stays in any case without moves; below 0 only those can make room. Of choices that
// cost the same, one that moves little. Throws std::logic_error where has_ilp() (ilp.hpp) is false.
std::optional<KeepChoice> keep_by_ilp(const Problem& problem, const Chain& chain, std::int64_t room,
                                      double limit_seconds, const Moves* moves = nullptr);

struct KeepPlan {
  Sequence sequence;
  std::vector<TensorIndex> moved;
  std::int64_t cost = 0, bound = 0;  // as of a KeepChoice, for the room that it had
};

// The same for a budget of the referee's: from the room that keeping everything would leave, `room`
// is made smaller until the plan's peak is within it. With moves, for that room alone: what
// peak_with_moves() says may be more than the budget, as only a simulation says what copies add.
std::optional<KeepPlan> plan_keeps_by_ilp(const Problem& problem, const Chain& chain,
                                          std::int64_t budget, double limit_seconds,
                                          const Moves* moves = nullptr);

}  // namespace tidemark::remat
