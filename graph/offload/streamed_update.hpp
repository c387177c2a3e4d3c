#pragma once
// States that live on the host or the SSD and come to the GPU, bucket by bucket, for the update
// there:
//
//   [nvme_read  states from the SSD    the host buffer is free again]
//   copy_in     states to the GPU      backward is over, and the bucket so many before has left
//   compute     the optimizer's ops    its states (and gradients) are here
//   copy_out    states to the host     its ops
//   [nvme_write states to the SSD      copy_out]
//
// The last three of the first column overlap, each with another bucket. With parameters in fp32 (or
// all in bf16) the parameter itself is on the GPU anyway, and only moments travel.

#include "graph/offload.hpp"
#include "graph/offload/departures.hpp"
#include "graph/offload/mover.hpp"

namespace tidemark {

// Says that the states of streamed parameters come and leave.
void leave_states(const StepGraph& graph, Departures& departures);

void stream_states(Mover& mover, const Departures& departures, const Stays& stays,
                   const Offload& offload);

}  // namespace tidemark
