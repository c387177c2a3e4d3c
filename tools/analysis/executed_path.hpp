#pragma once
// The critical path of a step as it was played: which instance ended the step, what that one had
// waited for, and so on back to the beginning of the step.
//
//   compute    | k0 |..........|  k1  |         k1 waited for memory that copy c held, c for k0:
//   copy_out        |    c     |                k0, c, k1
//
// Unlike a stall, which has the compute stream's view, the path leads through the blocker: a wait
// for memory leads to whoever freed it. The durations are those that were played, with what the
// transfers took from each other.

#include <vector>

#include "graph/program.hpp"
#include "sim/result.hpp"

namespace tidemark::tools {

// A span of the step in which the path leads through an instance.
struct PathSpan {
  InstanceId instance{};
  SimTime begin{};            // the last that it waited for had finished
  SimTime issued{};           // up to here the host had not issued it
  SimTime start{};            // up to here the driver was asked for memory
  SimTime finish{};           // of the instance, and the begin of the next span
  bool after_memory = false;  // it waited longest for memory
};

// From the beginning of the step to its end without a gap. Of a run that ran out of memory: up to
// there.
std::vector<PathSpan> executed_path(const Program& program, const sim::Result& result);

}  // namespace tidemark::tools
