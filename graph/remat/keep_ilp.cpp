#include "graph/remat/keep_ilp.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "graph/remat/ilp.hpp"
#include "graph/remat/referee.hpp"

#ifdef TIDEMARK_HAS_CBC
#include "graph/remat/cbc.hpp"
#include "graph/remat/keep_model.hpp"
#endif

namespace tidemark::remat {

#ifndef TIDEMARK_HAS_CBC

std::optional<KeepChoice> keep_by_ilp(const Problem&, const Chain&, std::int64_t, double,
                                      const Moves*) {
  throw std::logic_error("this build has no CBC (coinor-libcbc-dev)");
}

#else

std::optional<KeepChoice> keep_by_ilp(const Problem& problem, const Chain& chain, std::int64_t room,
                                      double limit_seconds, const Moves* moves) {
  // Equal stages make many plans that are equal, and with moves nearly so: no proof is sought.
  constexpr double kGap = 1e-3;
  constexpr double kNear = 1e-3;  // of the time of a pass
  if (room < 0 && moves == nullptr) return std::nullopt;
  const KeepModel keep(problem, chain, room, moves);
  std::vector<double> start;
  if (moves != nullptr && room >= 0) {
    const KeepModel alone(problem, chain, room, nullptr);
    start = solve_with_cbc(alone.model(), limit_seconds, nullptr, kGap).values;
  }
  // It begins with the variables of the model without moves.
  if (!start.empty()) start.resize(keep.model().cost.size(), 0);
  const double near = moves == nullptr ? 0 : kNear * keep.time_of_all();
  const CbcAnswer answer =
      solve_with_cbc(keep.model(), limit_seconds, start.empty() ? nullptr : &start, kGap, near);
  if (answer.values.empty()) return std::nullopt;
  return keep.choice_of(answer.values, answer.bound);
}

#endif

std::optional<KeepPlan> plan_keeps_by_ilp(const Problem& problem, const Chain& chain,
                                          std::int64_t budget, double limit_seconds,
                                          const Moves* moves) {
  constexpr int kTries = 4;
  const Readers reads = readers(problem);
  std::int64_t most = 0;  // that a plan can choose to keep
  for (const Stage& stage : chain) {
    for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
      for (const TensorIndex tensor : problem.outputs(op)) {
        const auto all = reads.of(tensor);
        const bool saved = !all.empty() && problem.op(all.back()).backward;
        if (saved && inner(problem, reads, stage, tensor)) most += problem.tensor(tensor).bytes;
      }
    }
  }
  std::int64_t room = most + budget - referee(problem, keep_everything(problem)).peak;
  for (int i = 0; i < kTries; ++i) {
    auto choice = keep_by_ilp(problem, chain, std::min(room, most), limit_seconds, moves);
    if (!choice) return std::nullopt;
    KeepPlan found{sequence_of(problem, choice->plan), std::move(choice->moved), choice->cost,
                   choice->bound};
    // What is made again for another output of its op need not move.
    std::vector<char> runs(problem.op_count(), 0);
    for (const OpIndex op : found.sequence) ++runs[op];
    std::erase_if(found.moved, [&](TensorIndex t) { return runs[problem.tensor(t).producer] > 1; });
    const std::int64_t peak = peak_with_moves(problem, found.sequence, found.moved);
    if (peak <= budget || moves != nullptr) return found;
    room = std::min(room, most) - (peak - budget);
  }
  return std::nullopt;
}

}  // namespace tidemark::remat
