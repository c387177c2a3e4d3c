#pragma once
// How compilers choose what a compiled block saves for its backward: a minimum cut by bytes in
// which some ops are banned from running again, and a knapsack over the banned ones for a budget
// between 0 and 1. After PyTorch's min-cut partitioner (torch/_functorch/partitioners.py) and its
// activation_memory_budget.

#include <cstdint>
#include <span>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/keep_cut.hpp"
#include "graph/remat/plan.hpp"

namespace tidemark::remat {

enum class Ban : char {
  kFree,       // cheap: pointwise ops and views
  kHeuristic,  // used far apart, in a long fusible chain, or needed in backward anyway
  kAllowList,  // not on the list of ops that may be fused
  kCompute,    // products, attention, random ops
};

struct PartitionRules {
  std::span<const Ban> ban;             // one entry a forward op
  std::span<const std::int64_t> value;  // of not running it again: FLOPs, time or 1; likewise
};

// Items to take of `weights`, whose sum is to be at most `capacity`, so that the sum of `values` is
// largest. Weights and capacity are rounded to 1 / 10 000. Items that weigh nothing are taken.
std::vector<char> knapsack(std::span<const double> weights, std::span<const std::int64_t> values,
                           double capacity);

// What to keep of what `what` may run again (its `banned` is not used). Budget 1: the least bytes
// under all bans. Budget 0: nothing. Between: the first of these that keeps less than `budget` of
// the bytes of budget 1: without heuristic bans, without the allow list; else of the banned ops
// with most value for the budget all stay banned, and the cut is made again.
KeepSet partition(const KeepProblem& what, const PartitionRules& rules, double budget);

// Each stage partitioned by itself, its output kept; made again lazily.
Plan partition_plan(const Problem& problem, const Chain& chain, const PartitionRules& rules,
                    double budget);

// Each stage keeps what costs more than `price` picoseconds for each byte to make again, its output
// in any case: the minimum cut of keep_at_price().
Plan priced_plan(const Problem& problem, const Chain& chain, double price);

}  // namespace tidemark::remat
