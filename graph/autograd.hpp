#pragma once
// The autograd engine: goes back through the nodes of a tape, latest first, as the framework's
// does.

#include <functional>

#include "graph/tape.hpp"

namespace tidemark {

// Runs backward from `root` with gradient `seed`. Each node's saved tensors die when it has run;
// gradients that meet are summed (in place where the framework may: see `accumulate` in Kernels);
// gradients of leaves end in Tape::leaves(). May be called while it runs (a checkpoint's inner
// backward). Nodes with `recompute` set call tape's `recompute` first.
void backward(Tape& tape, const Value& root, const Value& seed);

// Sums `x` over the dimensions in which it was broadcast from `shape`.
Value sum_to(const Value& x, const Shape& shape);

}  // namespace tidemark
