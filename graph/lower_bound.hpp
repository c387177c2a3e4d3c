#pragma once

#include "graph/program.hpp"

namespace tidemark {

// A time that no play of the program beats, however transfers share their links and however much
// memory there is. The largest of
//   - the longest chain of instances that wait for each other or share a stream, with every
//     transfer alone on its links (critical_path.hpp);
//   - for each link, the bytes that pass it at its capacity.
// More bandwidth never makes it larger.
SimTime step_lower_bound(const Program& program);

}  // namespace tidemark
