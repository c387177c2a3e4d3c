#pragma once
// All that happened in a step, as packed columns, in the order in which web/step.js reads them.

#include <string>

#include "tools/report.hpp"

namespace tidemark::tools {

// names       the names below, one a line, in the order of their first use
// instances   in the order of their starts: stream, phase, name, layer, start, duration
// buffers     in the order of their allocations: tier + 3 x category, name, layer, bytes
// events      what (0: allocates the next buffer; n: frees the n-th last allocated one), time,
//             instance + 1 (0: none)
// stalls      begin, duration, cause, waiting instance + 1, blocking instance + 1
// names       that the columns above give by number: one a line, as text
//
// Times are picoseconds. Layer, start, and everything of events and stalls but what, duration and
// cause stand as differences to the row before.
std::string step_columns(const PlayedStep& step);

}  // namespace tidemark::tools
