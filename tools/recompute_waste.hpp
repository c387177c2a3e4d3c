#pragma once
// What replays of whole segments compute again for nothing.

#include <span>

#include "graph/model.hpp"
#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "hardware/units.hpp"

namespace tidemark::tools {

struct RecomputeWaste {
  SimTime unread{};  // of kernels of which neither backward nor another replay reads anything
  // Of the segment that ends with the last block, which is replayed right after its forward: what
  // it lets go is back before anything else is freed. Zero where that segment keeps everything.
  SimTime last_segment{};
};

// Of all passes of the step. `program` plays `graph`.
RecomputeWaste recompute_waste(const StepGraph& graph, const Program& program,
                               std::span<const Segment> segments, std::int64_t layers);

}  // namespace tidemark::tools
