#pragma once
// Recomputation of single tensors: which of the tensors that forward saved for backward are let go
// and computed again, and when. This is what compilers do, and checkpoints of parts of a block;
// whole segments as PyTorch's eager checkpoint plays them, with or without cached ops, are an input
// of lower() instead (graph/checkpoint.hpp).
//
//   forward    a = f(x)   b = g(a)   c = h(b)        b and a are saved, b is dropped:
//   backward   dh(b)  dg(a)  df(x)
//   sequence   f g h | g  dh dg df                   g runs again, right before the first reader
//
// An op that runs again makes new instances of its outputs; later readers read those. An instance
// is freed after its last reader. A tensor that is kept stays to its last reader, also where that
// is an op that runs again.

#include <cstdint>
#include <span>
#include <vector>

#include "graph/step_graph.hpp"

namespace tidemark::remat {

enum class Timing : std::uint8_t {
  kLazy,   // right before the first op of backward that reads it: as compilers schedule it
  kEntry,  // all that a block dropped, before the first op of backward that needs any of it
};

enum class Fate : std::uint8_t {
  kAsSaved,  // kept if an autograd node saves it, else gone with its last variable
  kKept,     // kept from forward to backward, so that others can be made from it
  kDropped,  // not kept
};

struct Drops {
  std::vector<Fate> fate;  // by TensorId
  Timing timing = Timing::kLazy;
};

// May be dropped: forward made it, backward or nobody reads it later, and running its producer (and
// what then wrote into it) again gives the same bytes without disturbing others.
std::vector<bool> droppable(const StepGraph& graph);

// The order in which ops run, with those that run again for backward's sake: `graph` must have been
// lowered without checkpoints. Tensors that are not droppable are kept whatever `drops` says.
std::vector<OpId> sequence_of(const StepGraph& graph, const Drops& drops);

// The step that runs `sequence`: every op of `graph` once, in its order, and any op of forward
// again at any later place at which what it reads can be had. Ops that run again are of phase
// kRecompute. Throws InternalError where the sequence is not so.
StepGraph replay(const StepGraph& graph, std::span<const OpId> sequence);

}  // namespace tidemark::remat
