#pragma once
// Why the compute stream stood still, worked out after the run.
//
// Each gap before a compute instance, and the tail after the last one, is explained backward from
// its end: time that the instance waited for memory is kAllocation, for the driver kAllocatorCall,
// for the host to issue it kLaunch; else it waited for the dependency that finished last. While that blocker ran, its stream is the
// cause; before it started, whatever held the blocker up is, and so on to the beginning of the gap.
//
//   compute    |  k0  |........gap........|  k1  |        k1 needs copy-in c, c needs NVMe read r
//   copy_in           .       |    c      |               cause   nvme_read | pcie_h2d
//   nvme_read    |      r     |                           blocker r         | c

#include <vector>

#include "graph/program.hpp"
#include "sim/result.hpp"

namespace tidemark::sim {

// Reads records, memory and end of `result`; with compute_busy the spans add up to `end` exactly.
// Among dependencies that finished together the first of the instance's row is the blocker; a
// dependency comes before the predecessor on the stream. For kAllocation the blocker is the
// instance whose finish freed the memory, for kAllocatorCall the one that asked, for
// kLaunch the one that the host had not issued.
std::vector<Stall> attribute_stalls(const Program& program, const Result& result);

}  // namespace tidemark::sim
