#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/partition.hpp"
#include "graph/remat/plan.hpp"

namespace tidemark {

PlannerFn plan_min_cut, plan_knapsack;

namespace {

// Nothing is fused into these.
bool is_product(OpKind kind) {
  switch (kind) {
    case OpKind::kAddmm:
    case OpKind::kMm:
    case OpKind::kBmm:
    case OpKind::kBaddbmm:
    case OpKind::kFlashAttention:
    case OpKind::kFlashAttentionBackward:
      return true;
    default:
      return false;
  }
}

// torch/_functorch/partitioners.py, get_default_op_list(): compute-intensive and random ops.
bool is_compute(OpKind kind) { return is_product(kind) || kind == OpKind::kDropout; }

// Reductions and ops that move rows about are not on the list of what may be recomputed. Norms and
// softmax are: the compiler takes them apart into small reductions, which stay, and pointwise ops.
bool is_off_the_list(OpKind kind) {
  switch (kind) {
    case OpKind::kSum:
    case OpKind::kMean:
    case OpKind::kMax:
    case OpKind::kGather:
    case OpKind::kScatter:
    case OpKind::kScatterAdd:
    case OpKind::kEmbedding:
    case OpKind::kNllLoss:
    case OpKind::kLogSoftmax:
    case OpKind::kCrossEntropy:
      return true;
    default:
      return false;
  }
}

enum class Worth : std::int64_t { kFlops, kTime, kOne };  // rows of kWorthChoices (table.cpp)

struct Rules {
  std::vector<remat::Ban> ban;
  std::vector<std::int64_t> value;
};

class RulesOfStep {
 public:
  RulesOfStep(const PlannerInput& input, Worth worth)
      : graph_(input.graph),
        step_(input.step),
        problem_(input.step.problem),
        worth_(worth),
        readers_(remat::readers(problem_)) {}

  Rules find() const {
    Rules rules;
    for (remat::OpIndex op = 0; op < problem_.op_count(); ++op) {
      rules.ban.push_back(problem_.op(op).backward ? remat::Ban::kFree : ban_of(op));
      rules.value.push_back(value_of(op));
    }
    return rules;
  }

 private:
  template <class Test>
  bool any_part(remat::OpIndex op, const Test& test) const {
    return std::ranges::any_of(step_.ops[op],
                               [&](OpId part) { return test(graph_.op(part).kind); });
  }

  remat::Ban ban_of(remat::OpIndex op) const {
    if (any_part(op, is_compute)) return remat::Ban::kCompute;
    if (any_part(op, is_off_the_list)) return remat::Ban::kAllowList;
    return read_by_product(op) || used_far_apart(op) ? remat::Ban::kHeuristic : remat::Ban::kFree;
  }

  // ban_if_materialized_backward: a kernel of backward that nothing is fused into reads it.
  bool read_by_product(remat::OpIndex op) const {
    return any_reader(op, [&](remat::OpIndex reader) {
      return problem_.op(reader).backward && any_part(reader, is_product);
    });
  }

  // ban_if_used_far_apart: forward reads it again behind a kernel that nothing is fused into.
  bool used_far_apart(remat::OpIndex op) const {
    return any_reader(op, [&](remat::OpIndex reader) {
      if (problem_.op(reader).backward) return false;
      for (remat::OpIndex between = op + 1; between < reader; ++between) {
        if (any_part(between, is_product)) return true;
      }
      return false;
    });
  }

  template <class Test>
  bool any_reader(remat::OpIndex op, const Test& test) const {
    return std::ranges::any_of(problem_.outputs(op), [&](remat::TensorIndex tensor) {
      return std::ranges::any_of(readers_.of(tensor), test);
    });
  }

  std::int64_t value_of(remat::OpIndex op) const {
    if (worth_ == Worth::kOne) return 1;
    if (worth_ == Worth::kTime) return problem_.op(op).cost;
    std::int64_t flops = 0;
    for (const OpId part : step_.ops[op]) flops += graph_.op(part).flops.count;
    return flops;
  }

  const StepGraph& graph_;
  const remat::StepProblem& step_;
  const remat::Problem& problem_;
  Worth worth_;
  remat::Readers readers_;
};

Planner planner_of(const PlannerInput& input, Worth worth, double budget) {
  const remat::Problem& problem = input.step.problem;
  const auto chain = remat::chain_of_blocks(problem);
  if (!chain) return [](std::int64_t) { return std::nullopt; };
  const Rules rules = RulesOfStep(input, worth).find();
  remat::Sequence sequence = remat::sequence_of(
      problem, remat::partition_plan(problem, *chain, {rules.ban, rules.value}, budget));
  return [sequence = std::move(sequence)](std::int64_t) { return Placement{sequence}; };
}

}  // namespace

// torch.compile as it is by default, block by block: activation_memory_budget = 1.
Planner plan_min_cut(const PlannerInput& input) { return planner_of(input, Worth::kFlops, 1); }

// Options: budget, worth. torch._functorch.config.activation_memory_budget below 1.
Planner plan_knapsack(const PlannerInput& input) {
  return planner_of(input, static_cast<Worth>(input.options[1].integer), input.options[0].number);
}

}  // namespace tidemark
