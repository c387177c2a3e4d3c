#include "graph/remat/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tidemark::remat {

namespace {

constexpr double kWeightSteps = 10000;  // of torch/_functorch/_activation_checkpointing/knapsack.py

KeepSet fewest_bytes(KeepProblem what, std::span<const char> banned) {
  what.banned = banned;
  // Above the cost of everything: of sets with equal bytes the one that costs less.
  return keep_at_price(what, static_cast<double>(what.problem->base_time() + 1));
}

std::vector<char> banned_above(const KeepProblem& what, const PartitionRules& rules, Ban level) {
  std::vector<char> banned(what.problem->op_count(), 0);
  for (const OpIndex op : what.ops) banned[op] = rules.ban[op] > level;
  return banned;
}

// Ops that would run again if nothing could be kept.
std::vector<char> wanted_ops(const KeepProblem& what) {
  std::vector<char> needed(what.problem->tensor_count(), 0);
  std::vector<char> wanted(what.problem->op_count(), 0);
  for (const TensorIndex tensor : what.needed) needed[tensor] = 1;
  for (std::size_t i = what.ops.size(); i-- > 0;) {
    const OpIndex op = what.ops[i];
    for (const TensorIndex tensor : what.problem->outputs(op)) {
      if (needed[tensor] != 0 && what.held[tensor] == Held::kChoose) wanted[op] = 1;
    }
    if (wanted[op] == 0) continue;
    for (const TensorIndex tensor : what.problem->inputs(op)) needed[tensor] = 1;
  }
  return wanted;
}

// Applies `choose` to each stage of the chain: what it keeps of what its forward makes.
template <class Choose>
Plan plan_by_stage(const Problem& problem, const Chain& chain, const Choose& choose) {
  Plan plan = plan_of_everything(problem);
  const Readers reads = readers(problem);
  std::vector<Held> held(problem.tensor_count(), Held::kChoose);
  for (const Stage& stage : chain) {
    std::vector<OpIndex> ops(stage.forward_end - stage.forward_begin);
    std::iota(ops.begin(), ops.end(), stage.forward_begin);
    std::vector<TensorIndex> needed;
    for (const OpIndex op : ops) {
      for (const TensorIndex tensor : problem.outputs(op)) {
        const auto all = reads.of(tensor);
        if (!inner(problem, reads, stage, tensor)) held[tensor] = Held::kFree;
        if (!all.empty() && problem.op(all.back()).backward) needed.push_back(tensor);
        plan.keep[tensor] = held[tensor] == Held::kFree;
      }
    }
    for (const TensorIndex tensor : choose(KeepProblem{&problem, ops, needed, held}).kept) {
      plan.keep[tensor] = 1;
    }
  }
  return plan;
}

}  // namespace

std::vector<char> knapsack(std::span<const double> weights, std::span<const std::int64_t> values,
                           double capacity) {
  const auto steps = [](double weight) {
    return static_cast<std::size_t>(std::llround(weight * kWeightSteps));
  };
  const std::size_t columns = steps(capacity) + 1;
  std::vector<std::vector<std::int64_t>> best = {std::vector<std::int64_t>(columns, 0)};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    best.push_back(best.back());
    const std::size_t weight = steps(weights[i]);
    for (std::size_t at = weight; at < columns; ++at) {
      best[i + 1][at] = std::max(best[i][at], best[i][at - weight] + values[i]);
    }
  }
  std::vector<char> taken(weights.size(), 0);
  std::size_t at = columns - 1;
  for (std::size_t i = weights.size(); i-- > 0;) {
    if (best[i + 1][at] == best[i][at] && steps(weights[i]) > 0) continue;
    taken[i] = 1;
    at -= steps(weights[i]);
  }
  return taken;
}

KeepSet partition(const KeepProblem& what, const PartitionRules& rules, double budget) {
  if (budget <= 0) return evaluate(what, {});
  const KeepSet full = fewest_bytes(what, banned_above(what, rules, Ban::kFree));
  if (budget >= 1 || full.bytes == 0) return full;
  const auto share = [&](const KeepSet& set) {
    return static_cast<double>(set.bytes) / static_cast<double>(full.bytes);
  };
  for (const Ban lifted : {Ban::kHeuristic, Ban::kAllowList}) {
    KeepSet set = fewest_bytes(what, banned_above(what, rules, lifted));
    if (share(set) < budget) return set;
  }
  const std::vector<char> wanted = wanted_ops(what);
  std::vector<char> banned = banned_above(what, rules, Ban::kAllowList);
  std::vector<OpIndex> items;
  std::vector<double> weights;
  std::vector<std::int64_t> values;
  for (const OpIndex op : what.ops) {
    if (banned[op] == 0 || wanted[op] == 0 || !what.problem->op(op).recomputable) continue;
    std::int64_t bytes = 0;
    for (const TensorIndex tensor : what.problem->outputs(op)) {
      bytes += what.problem->tensor(tensor).bytes;
    }
    items.push_back(op);
    weights.push_back(static_cast<double>(bytes) / static_cast<double>(full.bytes));
    values.push_back(rules.value[op]);
  }
  const std::vector<char> taken = knapsack(weights, values, budget);
  for (std::size_t i = 0; i < items.size(); ++i) banned[items[i]] = taken[i];
  return fewest_bytes(what, banned);
}

Plan partition_plan(const Problem& problem, const Chain& chain, const PartitionRules& rules,
                    double budget) {
  return plan_by_stage(problem, chain,
                       [&](const KeepProblem& what) { return partition(what, rules, budget); });
}

Plan priced_plan(const Problem& problem, const Chain& chain, double price) {
  return plan_by_stage(problem, chain,
                       [&](const KeepProblem& what) { return keep_at_price(what, price); });
}

}  // namespace tidemark::remat
