#pragma once
// A step as it was played, as files that other tools open. Each is a pure function from a step to
// text. A step that does not fit is shown as it would be with enough memory, as a Report shows it.

#include <string>
#include <string_view>

#include "tools/report.hpp"

namespace tidemark::tools {

// Chrome's trace event format, which Perfetto and chrome://tracing open: a process a rank, a track
// a stream, and tracks of phases and of stalls; counters of each tier's categories; flows from a
// transfer or an update on the CPU to what waited for it. Times are whole nanoseconds.
std::string trace_json(std::string_view label, const PlayedStep& step);

// time_s,tier,category,bytes: a row each time that a buffer comes or goes, with what its category
// holds in its tier from then on. In order of occurrence: rows of one instant may follow one
// another. Times are exact to the picosecond.
std::string timeline_csv(const PlayedStep& step);

}  // namespace tidemark::tools
