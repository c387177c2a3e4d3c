#pragma once

#include "graph/program.hpp"

namespace tidemark {

// A time that no play of the program beats, whatever the order of transfers, however they share
// their links, and however much memory there is. The largest of
//   - the longest chain of instances that wait for each other (kernels: in their order), with every
//     transfer alone on its links;
//   - for each stream, its instances one after the other, each alone on its links;
//   - for each link, the bytes that pass it at its capacity.
// More bandwidth never makes it larger, and neither do more buffers in flight, though the step
// itself may get slower: sim/README.md, "Anomalies".
SimTime step_lower_bound(const Program& program);

}  // namespace tidemark
