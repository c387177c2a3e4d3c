#pragma once

#include "graph/program.hpp"

namespace tidemark {

// Throws InternalError unless `program` can be played: every instance stands once, in the list of
// its own stream; rows are whole, refer to what exists, and have no buffer twice; transfers have a
// path over links that exist; and the dependencies with the order of the streams have no cycle.
// Linear in instances, dependencies and uses.
void check(const Program& program);

}  // namespace tidemark
