#pragma once
// The least recomputation under a budget, by integer programming with CBC: the
// complete form of Checkmate (Jain et al., MLSys 2020), for graphs of up to about 60 ops.
//
// Stage t ends with the first run of op t. R[t, i]: op i runs in stage t; S[t, v]: tensor v is
// there when stage t starts; F[t, v, k]: v goes after op k ran in stage t.
//
//   least sum of cost(i) R[t, i]                          R[t, t] = 1; S of the first stage 0
//   R[t, j] <= R[t, maker of v] + S[t, v]                 for each v that j reads
//   S[t + 1, v] <= S[t, v] + R[t, maker of v]
//   F[t, v, k] <= R[t, k];  F + S[t + 1, v] <= 1;  F + R[t, j] <= 1 for readers j of v after k
//   U[t, k] = U[t, k - 1] + made by k - gone after k - 1 <= budget
//
// Of sequences in which the repeats between two first runs are in the order of the ops, and each
// once: at the tightest budgets others can do with less. A tensor that is there and made again
// counts twice.

#include <cstdint>
#include <optional>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

struct IlpResult {
  // The best sequence found; nothing: none was found.
  std::optional<Sequence> sequence;
  std::int64_t recompute_time = 0;  // of it, picoseconds
  // No sequence has less, as far as the solver has proved.
  std::int64_t bound = 0;
  bool proven = false;      // the sequence is optimal
  bool infeasible = false;  // proved: no sequence fits

  // How far the sequence may be from the optimum, as a share of its recompute time; 0 when proven.
  double gap() const;
};

// Whether this build has CBC; without it plan_by_ilp() throws std::logic_error.
bool has_ilp();

// `start`, if it fits the budget, is where the search starts. The limit is of processor time: a
// search that it cut short depends on the machine.
IlpResult plan_by_ilp(const Problem& problem, std::int64_t budget, double limit_seconds,
                      const Sequence* start = nullptr);

}  // namespace tidemark::remat
