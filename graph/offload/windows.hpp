#pragma once
// Which saved tensors can go and come back without the GPU waiting for them.
//
//   compute   |  f  saves x |  ...                 | visit v - prefetch begins ...  | b reads x |
//   copy out                |== x ==|..            .                                .
//   copy in                                        |......== x ==|                  .
//                                                  from here on       until here
//
// Kernels one after the other are the clock, as they run when nothing waits. Copies in each
// direction go one at a time, in their order; one through the SSD takes the time of both of its
// legs. A tensor is taken if its own copy in, and those of the tensors taken before it, still come
// in time: tensors saved earlier have the wider window and are asked first.

#include <functional>
#include <vector>

#include "graph/machine_paths.hpp"
#include "graph/offload/saved_tensors.hpp"
#include "graph/program_builder.hpp"

namespace tidemark {

// How long a copy of some bytes takes when it has its share of every link.
struct CopyTimes {
  std::function<SimTime(Bytes)> out, in;
};

// Over the links and paths that add_links() gave `builder`, while the other direction, and with an
// SSD both legs of both directions, copy too: never less than a simulated copy takes when nothing
// but activations moves.
CopyTimes copy_times(const ProgramBuilder& builder, const MachinePaths& paths,
                     ActivationOffload::To to);

// To the host and back, with every link to itself: never more than a simulated copy takes.
CopyTimes copy_times_alone(const ProgramBuilder& builder, const MachinePaths& paths);

// When each op starts if nothing waits; one more entry: when the last one ends.
using Starts = std::vector<SimTime>;

// Those of `tensors` (in the order in which they are saved) that fit, in the same order.
std::vector<SavedTensor> fit_in_windows(const std::vector<SavedTensor>& tensors,
                                        const StepGraph& graph, const Starts& starts,
                                        const CopyTimes& times);

}  // namespace tidemark
