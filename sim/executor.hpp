#pragma once
// Plays a Program: a pure function of its inputs.
//
// What happens at one instant is decided in rounds. In each round first every instance that is due
// finishes, in order of streams, and its memory comes free; then every stream that is free, again
// in order of streams, starts its next instance if that one's dependencies have finished and its
// memory is to be had. Instances of no duration finish in the next round of the same instant.
//
// An instance takes all the buffers that it is the first to use, or none of them and waits. It is
// tried again when memory of the tier that failed has come free. If every stream waits and nothing
// runs, the step is out of memory at the first stream, in order of streams, that waits for memory.
// Driver calls of its attempts, refused ones included, delay its start: an allocator that empties
// its cache waits for the streams first.
//
// The host issues the compute stream's instances in order, each for Instance::issue, starting with
// an empty queue at time 0, and runs ahead until SimulateOptions::launch_queue instances have been
// issued and not started. Driver calls for the compute stream keep it busy until they are done. An
// instance that is ready but not issued waits for the host before it asks for memory.
//
// With a run-time policy (SimulateOptions::ruled) the compute stream's next instance, as soon as it
// could start, may have others run again before it; each costs the host its issue. Where HBM has no
// room for what is to start on the compute stream the policy evicts buffers until it has, or until
// none may go: then the stream waits for memory.

#include "graph/program.hpp"
#include "sim/options.hpp"
#include "sim/result.hpp"

namespace tidemark::sim {

// InternalError if the program is malformed or its dependencies and stream orders form a cycle.
Result simulate(const Program& program, const SimulateOptions& options = {});

}  // namespace tidemark::sim
