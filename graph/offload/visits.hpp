#pragma once
// Forward and backward as a walk over the blocks. A visit is a run of consecutive ops of one block
// on one side; recompute belongs to backward. Ops outside the blocks (embedding, head, loss) have
// visits of their own, with layer -1.
//
// Running example, two blocks, every block checkpointed ("f1": forward of block 1):
//
//   visit   0      1   2   3             4               5             6             7
//   ops     embed  f0  f1  norm, head,   loss, head,     recompute and recompute and embed
//                          loss          norm, backward  backward of 1 backward of 0 backward
//   layer   -1     0   1   -1            -1              1             0             -1

#include <cstdint>
#include <vector>

#include "graph/step_graph.hpp"

namespace tidemark {

struct Visit {
  OpId first{};
  OpId last{};
  std::int16_t layer = -1;
  bool backward = false;
  std::uint32_t start = 0;  // the visit with which its pass' forward, or backward, begins
};

// In the order of ops. The optimizer's ops, and those that clear gradients, belong to none.
std::vector<Visit> visits(const StepGraph& graph);

// By op: its visit; kNoIndex: none.
std::vector<std::uint32_t> visit_of_each_op(const StepGraph& graph,
                                            const std::vector<Visit>& visits);

// The op whose end begins the visit that comes `ahead` visits before `visit`, or the first of all;
// kNoOp: the step begins with it.
OpId before_visit(const std::vector<Visit>& visits, std::uint32_t visit, std::int64_t ahead);

}  // namespace tidemark
