#pragma once
// Online eviction: ops run in order; when memory is short the resident tensor of least score goes,
// and comes back when it is read, by running its op again, and before that those that its op needs.
// Dynamic Tensor Rematerialization, Kirisame et al., ICLR 2021.
//
// DtrRun decides and counts no bytes: whoever runs the step has the memory and the clock, a
// simulated run with its allocator (tools/runtime_placement.hpp) or dtr() below, which counts as
// the referee does.
//
// Scores (staleness: time since a tensor was last made or read):
//   h_DTR     (own cost + cost of the evicted neighbourhood) / (bytes x staleness); the
//             neighbourhood: evicted tensors that it is made from, or that are made from it,
//             through evicted ones alone
//   h_DTR-eq  the same with the neighbourhood's cost kept in a union-find structure, which forgets
//             nothing when a tensor comes back but that tensor's own cost
//   local     own cost / (bytes x staleness)
//   LRU       1 / staleness;   size  1 / bytes;   MSPS  (own cost + evicted ancestors) / bytes

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/remat/dtr_costs.hpp"
#include "graph/remat/dtr_scores.hpp"
#include "graph/remat/problem.hpp"

namespace tidemark::remat {

// Ops run again at most so often as the step has ops; then nothing is evicted any more.
inline constexpr std::int64_t kMostDtrRepeats = 20;

class DtrRun {
 public:
  DtrRun(const Problem& problem, DtrScore score, std::int64_t most_repeats = kMostDtrRepeats);

  // The step is about to run `op`, or the part of it that reads `inputs` alone. What has to run
  // again first, now; kNone: nothing. What is there of `inputs` stays until ran() says that the op
  // has run. To be asked again after each ran() of what runs again.
  OpIndex again_before(OpIndex op, std::span<const TensorIndex> inputs);
  OpIndex again_before(OpIndex op) { return again_before(op, problem_.inputs(op)); }

  // An allocation failed at time `clock`: the tensor that goes. kNone: none may.
  TensorIndex evict(std::int64_t clock);

  // What again_before() named has run, or, where it named nothing, the op that it was asked for.
  // `makes`: its outputs are there now; they are not after a part of an op but the last.
  void ran(std::int64_t clock, bool makes = true);

  bool resident(TensorIndex tensor) const { return costs_.resident(tensor); }
  // Of no use any more: not to the step, nor to make others.
  bool dead(TensorIndex tensor) const { return costs_.dead(tensor); }
  // It will be once the step's `op` has run.
  bool dies_by(TensorIndex tensor, OpIndex op) const { return useful_[tensor] <= op; }
  // Cannot be made again.
  bool stays(TensorIndex tensor) const {
    return !problem_.op(problem_.tensor(tensor).producer).recomputable;
  }

  // The step has let go of it, but others may have to be made from it: it is gone as if evicted.
  void let_go(TensorIndex tensor) { leave(tensor); }
  // Those that are of no use once the step's `op` has run; and lets them be dead.
  std::span<const TensorIndex> dying(OpIndex op) const { return dying_[op]; }
  void bury(OpIndex op);

 private:
  struct Waiting {  // an op that is about to run, as soon as what it reads is there
    OpIndex op = kNone;
    std::span<const TensorIndex> inputs;
    std::size_t there = 0;  // inputs that are, and stay
    bool ready = false;     // all are; its outputs stay, too
  };

  bool counted(TensorIndex tensor) const { return problem_.tensor(tensor).producer != kNone; }
  void find_uses();
  void appear(TensorIndex tensor);
  void leave(TensorIndex tensor);
  void take_from_pool(TensorIndex tensor);
  double least_score_of(TensorIndex tensor, std::int64_t clock) const;
  double score_of(TensorIndex tensor, std::int64_t clock);

  const Problem& problem_;
  DtrScore score_;
  std::size_t most_runs_, runs_ = 0;
  DtrCosts costs_;
  std::vector<OpIndex> useful_;                  // to the step's ops until then
  std::vector<std::vector<TensorIndex>> dying_;  // with each op, of no use any more
  std::vector<std::int64_t> access_;
  std::vector<std::uint32_t> locks_;
  std::vector<TensorIndex> pool_;  // resident, and may go
  std::vector<std::uint32_t> place_;
  std::vector<Waiting> waiting_;  // the last one first
};

struct DtrResult {
  // Nothing: at some op what may not be evicted did not fit, or too many ops ran again.
  std::optional<Sequence> sequence;
  OpIndex stuck_at = kNone;            // then: the op of the step that could not run
  std::vector<TensorIndex> evictions;  // in order
};

// With `budget` bytes as the referee counts them, and a clock of nothing but the ops' costs.
// Tensors go by themselves when nobody reads them any more. Equal scores: the lower index goes.
DtrResult dtr(const Problem& problem, std::int64_t budget, DtrScore score,
              std::int64_t most_repeats = kMostDtrRepeats);

}  // namespace tidemark::remat
