#pragma once
// A certificate: no sequence that stays within a budget, of whatever kind, recomputes less.
//
// While backward op b runs, memory holds its inputs and outputs, gradients that later ops read
// (`mandatory`), and a set K of what forward made. Forward has run, so every tensor that backward
// reads after b is in K or made again, from K or from what is made again:
//
//   recompute time >= max over b of min { cost(K) : bytes(K) <= budget - mandatory(b) }
//
// The stages of a chain separate, as the input of each counts as available to it: what remains is
// to choose one point of each stage's front, and only b in the last stages can be the tightest.

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/keep_cut.hpp"
#include "graph/remat/problem.hpp"

namespace tidemark::remat {

// Bytes that are alive in any case while backward op `op` runs, without what forward made and is
// not among its inputs.
std::int64_t mandatory_bytes(const Problem& problem, OpIndex op);

class CutBound {
 public:
  // Looks at backward ops of the last `stages` stages and of what comes in front of them.
  CutBound(const Problem& problem, const Chain& chain, std::size_t stages = 2);

  // Picoseconds. Nothing: no sequence stays within the budget.
  std::optional<std::int64_t> operator()(std::int64_t budget) const;

  // The same with every front replaced by its convex hull: a little lower, convex in the budget, in
  // microseconds.
  std::optional<std::int64_t> relaxed(std::int64_t budget) const;

 private:
  // A part is a stage, or the forward ops in front of the first or behind the last.
  struct Part {
    std::vector<KeepSet> front;  // `kept` left empty
    std::vector<KeepSet> hull;   // of the front
    bool exact = true;           // false: the front may lack points, but for those of its hull
  };

  // On the way from the fewest bytes of all parts to the most, best first.
  struct Step {
    std::int64_t bytes = 0;
    std::int64_t saved = 0;  // picoseconds
  };

  struct Moment {
    std::int64_t mandatory = 0;
    std::vector<std::uint32_t> parts;
    std::int64_t fewest = 0;     // bytes
    std::int64_t most_cost = 0;  // with the fewest bytes
    std::vector<Step> steps;
  };

  void add_moment(const Problem& problem, OpIndex op, std::vector<std::uint32_t> parts);
  std::optional<double> relaxed(const Moment& moment, std::int64_t budget) const;
  std::int64_t exact(const Moment& moment, std::int64_t budget) const;

  std::vector<Part> parts_;  // all that occur
  std::vector<Moment> moments_;
};

// With a link that moves `bytes_per_second` out while forward runs, and stalls for s longer: at
// least the least over s of s + bound(budget + rate x (forward + s)). Picoseconds of stalls and
// recomputation together.
std::optional<std::int64_t> link_bound(const CutBound& bound, std::int64_t budget,
                                       std::int64_t bytes_per_second, std::int64_t forward_time);

}  // namespace tidemark::remat
