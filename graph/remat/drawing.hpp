#pragma once
// The forward of one block as a picture: what is kept on one side of the cut, what is made again on
// the other.

#include <cstdint>
#include <span>
#include <string>

#include "graph/step_graph.hpp"

namespace tidemark::remat {

enum class Drawn : std::uint8_t {
  kGone,        // backward does not need it
  kKept,        // stays from forward to backward
  kRecomputed,  // made again for backward
  kMoved,       // leaves the GPU and comes back
};

// Text for GraphViz (dot -Tsvg): boxes are ops, ellipses the tensors that they make, filled where
// they are kept, with a legend. Ops of the first pass. `fate`: one entry a tensor.
std::string drawn_block(const StepGraph& graph, int layer, std::span<const Drawn> fate);

}  // namespace tidemark::remat
