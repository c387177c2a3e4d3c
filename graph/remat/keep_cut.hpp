#pragma once
// Which tensors to keep at a price for each byte, on any graph: a minimum cut. What is not kept and
// is needed costs the time of the ops that make it again.
//
// Arcs, with capacities; a cut that separates the sink pays for ops on the sink's side (they run
// again) and for tensors whose two halves it separates (they are kept):
//
//   source --cost--> op --inf--> tensor in --price x bytes--> tensor out --inf--> reader
//                                                             needed out --inf--> sink

#include <cstdint>
#include <span>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

// One entry a tensor of the problem.
enum class Held : char {
  kChoose,  // kept or made again, whichever the cut finds
  kFree,    // there in any case: takes no bytes and is never made again
};

struct KeepProblem {
  const Problem* problem = nullptr;
  std::span<const OpIndex> ops;  // what may run again, in order; what they read of others is there
  std::span<const TensorIndex> needed;  // made by `ops`
  std::span<const Held> held;           // one entry a tensor of the problem
  // One entry an op of the problem: what may not run again either; none: no more than that.
  std::span<const char> banned = {};

  bool may_run_again(OpIndex op) const {
    return problem->op(op).recomputable && (banned.empty() || banned[op] == 0);
  }
};

struct KeepSet {
  std::int64_t bytes = 0;         // of what is kept, but for what is there in any case
  std::int64_t cost = 0;          // picoseconds of the ops that run again
  std::vector<TensorIndex> kept;  // ascending, needed ones and what is read to make needed ones
};

// Makes a set consistent: counts bytes and cost of keeping `kept`, and leaves out of it what nobody
// needs. Outputs of ops that may not run again are kept where they are needed.
KeepSet evaluate(const KeepProblem& what, std::span<const TensorIndex> kept);

// A set with least cost + price x bytes; price in picoseconds a byte, above 0.
KeepSet keep_at_price(const KeepProblem& what, double price);

// All sets that are least for some price, from most bytes (cost 0) to fewest: the lower convex hull
// of (bytes, cost). At most `most` of them.
std::vector<KeepSet> keep_hull(const KeepProblem& what, std::size_t most = 1000);

}  // namespace tidemark::remat
