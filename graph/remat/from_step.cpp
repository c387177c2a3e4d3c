#include "graph/remat/from_step.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "graph/remat/rematerialise.hpp"
#include "hardware/ensure.hpp"

namespace tidemark::remat {
namespace {

bool of_pass(Phase phase) { return phase == Phase::kForward || phase == Phase::kBackward; }

// First and last + 1 op of each pass: forward, then backward.
std::vector<std::pair<std::uint32_t, std::uint32_t>> passes_of(const StepGraph& graph) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> passes;
  const auto count = static_cast<std::uint32_t>(graph.op_count());
  for (std::uint32_t op = 0; op < count && of_pass(graph.ops[op].phase);) {
    const std::uint32_t first = op;
    while (op < count && graph.ops[op].phase == Phase::kForward) ++op;
    while (op < count && graph.ops[op].phase == Phase::kBackward) ++op;
    passes.emplace_back(first, op);
  }
  ensure(!passes.empty(), "a step has a pass");
  return passes;
}

class Conversion {
 public:
  Conversion(const StepGraph& graph, std::span<const SimTime> times)
      : graph_(graph), times_(times), droppable_(droppable(graph)) {
    ensure(times.size() == graph.op_count(), "there is a time for each op");
    std::tie(begin_, end_) = passes_of(graph).back();
    index_.assign(graph.tensors.size(), kNone);
    group_.assign(graph.op_count(), kNone);
  }

  StepProblem run() && {
    find_groups();
    for (std::uint32_t op = begin_; op < end_; ++op) {
      if (group_[op] != kNone) groups_[group_[op]].push_back(OpId{op});
    }
    // A group runs where its last op does.
    std::vector<std::vector<OpId>> ordered;
    for (std::uint32_t op = begin_; op < end_; ++op) {
      if (group_[op] == kNone) {
        ordered.push_back({OpId{op}});
      } else if (groups_[group_[op]].back() == OpId{op}) {
        ordered.push_back(groups_[group_[op]]);
      }
    }
    for (std::vector<OpId>& ops : ordered) add(std::move(ops));
    return std::move(result_);
  }

 private:
  // Producers of droppable tensors together with those that write into them.
  void find_groups() {
    for (std::uint32_t op = begin_; op < end_; ++op) {
      for (const TensorId t : graph_.updated_by(OpId{op})) {
        const OpId producer = graph_.tensor(t).producer;
        if (!droppable_[index(t)] || producer == kNoOp || index(producer) < begin_) continue;
        std::uint32_t& group = group_[index(producer)];
        if (group == kNone) {
          group = static_cast<std::uint32_t>(groups_.size());
          groups_.emplace_back();
        }
        group_[op] = group;
      }
    }
  }

  bool made_in(TensorId t, const std::vector<OpId>& ops) const {
    const OpId producer = graph_.tensor(t).producer;
    return std::ranges::find(ops, producer) != ops.end();
  }

  void add(std::vector<OpId> ops) {
    Op op;
    std::vector<TensorIndex> inputs;
    std::vector<TensorIndex> outputs;
    const auto read = [&](TensorId t) {
      if (made_in(t, ops) || index_[index(t)] == kNone) return;
      const TensorIndex tensor = index_[index(t)];
      if (std::ranges::find(inputs, tensor) == inputs.end()) inputs.push_back(tensor);
    };
    for (const OpId id : ops) {
      const tidemark::Op& from = graph_.op(id);
      op.cost += times_[index(id)].count();
      op.backward = from.phase == Phase::kBackward;
      if (from.layer >= 0) op.block = static_cast<std::uint32_t>(from.layer);
      for (const TensorId t : graph_.inputs_of(id)) read(t);
      for (const TensorId t : graph_.updated_by(id)) read(t);
      for (const TensorId t : graph_.outputs_of(id)) {
        op.recomputable = op.recomputable && droppable_[index(t)];
        outputs.push_back(add_tensor(t));
      }
      if (graph_.outputs_of(id).empty() && ops.size() == 1) op.recomputable = false;
    }
    result_.problem.add_op(op, inputs, outputs);
    result_.ops.push_back(std::move(ops));
  }

  TensorIndex add_tensor(TensorId t) {
    const tidemark::Tensor& tensor = graph_.tensor(t);
    const bool outlives = tensor.persistent() || index(tensor.last_use) >= end_;
    index_[index(t)] = result_.problem.add_tensor(tensor.bytes.count, outlives);
    result_.tensors.push_back(t);
    return index_[index(t)];
  }

  const StepGraph& graph_;
  std::span<const SimTime> times_;
  std::vector<bool> droppable_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::vector<TensorIndex> index_;    // by tensor of the step; kNone: there before the pass
  std::vector<std::uint32_t> group_;  // by op of the step
  std::vector<std::vector<OpId>> groups_;
  StepProblem result_;
};

bool alike(const tidemark::Op& a, const tidemark::Op& b) {
  return a.kind == b.kind && a.phase == b.phase && a.layer == b.layer && a.module == b.module &&
         a.m == b.m && a.n == b.n && a.k == b.k && a.bytes_written == b.bytes_written;
}

using Pass = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::uint32_t kLookahead = 16;  // ops that only one of two passes has, in a row

// How many ops after `from` the first like `op` comes; kLookahead: none near.
std::uint32_t distance_to(const tidemark::Op& op, const StepGraph& graph, std::uint32_t from,
                          std::uint32_t end) {
  for (std::uint32_t d = 0; d < kLookahead && from + d < end; ++d) {
    if (alike(graph.ops[from + d], op)) return d;
  }
  return kLookahead;
}

// For each op of the planned pass the same op of `pass`; kNoOp where only the planned one has it:
// it adds its gradients to those that are there. The other way round `pass` makes gradients.
std::vector<OpId> counterparts(const StepGraph& graph, Pass pass, const StepGraph& planned,
                               Pass last) {
  std::vector<OpId> same;
  std::uint32_t at = pass.first;
  for (std::uint32_t op = last.first; op < last.second; ++op) {
    const std::uint32_t skip = distance_to(planned.ops[op], graph, at, pass.second);
    const bool other_way = skip > 0 && at < pass.second &&
                           distance_to(graph.ops[at], planned, op + 1, last.second) + 1 <= skip;
    if (skip == kLookahead || other_way) {
      same.push_back(kNoOp);
      continue;
    }
    at += skip;
    same.push_back(OpId{at++});
  }
  return same;
}

}  // namespace

StepProblem problem_of(const StepGraph& graph, std::span<const SimTime> times) {
  return Conversion(graph, times).run();
}

std::vector<OpId> sequence_of(const StepGraph& graph, const StepGraph& planned,
                              const StepProblem& problem, const Sequence& sequence) {
  const auto last = passes_of(planned).back();
  const auto passes = passes_of(graph);
  std::vector<OpId> ops;
  for (const Pass& pass : passes) {
    const std::vector<OpId> same = counterparts(graph, pass, planned, last);
    std::uint32_t next = pass.first;
    std::vector<bool> ran(problem.ops.size(), false);
    for (const OpIndex step : sequence) {
      for (const OpId op : problem.ops[step]) {
        const OpId here = same[index(op) - last.first];
        if (here == kNoOp) continue;
        if (ran[step]) {
          ops.push_back(here);
        } else {
          while (next <= index(here)) ops.push_back(OpId{next++});
        }
      }
      ran[step] = true;
    }
    while (next < pass.second) ops.push_back(OpId{next++});
  }
  for (auto op = passes.back().second; op < graph.op_count(); ++op) ops.push_back(OpId{op});
  return ops;
}

std::vector<TensorId> tensors_of(const StepGraph& graph, const StepGraph& planned,
                                 const StepProblem& problem, std::span<const TensorIndex> tensors) {
  const Pass last = passes_of(planned).back();
  std::vector<TensorId> found;
  for (const Pass& pass : passes_of(graph)) {
    const std::vector<OpId> same = counterparts(graph, pass, planned, last);
    for (const TensorIndex each : tensors) {
      const TensorId tensor = problem.tensors[each];
      const OpId maker = planned.tensor(tensor).producer;
      const OpId here = same[index(maker) - last.first];
      if (here == kNoOp) continue;
      const auto made = planned.outputs_of(maker);
      const auto place = std::ranges::find(made, tensor) - made.begin();
      found.push_back(graph.outputs_of(here)[static_cast<std::size_t>(place)]);
    }
  }
  return found;
}

}  // namespace tidemark::remat
