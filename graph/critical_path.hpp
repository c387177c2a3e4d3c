#pragma once
// The longest chain of work that has to be done one after the other: no schedule is shorter.

#include <cstdint>
#include <span>
#include <vector>

#include "graph/dependency_graph.hpp"
#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "hardware/units.hpp"

namespace tidemark {

template <class Id>
struct CriticalPath {
  SimTime length{};
  std::vector<Id> path;  // from first to last; empty when there is nothing to do
};

// The longest path through a graph by the durations of its vertices (one each, not negative). Of
// several longest paths, always the same one. A cycle is an InternalError.
CriticalPath<std::uint32_t> longest_path(const DependencyGraph& graph,
                                         std::span<const SimTime> durations);

// Of a step, by what its ops read and write alone, with a duration for each op.
CriticalPath<OpId> critical_path(const StepGraph& graph, std::span<const SimTime> durations);

// Of a program: its dependencies and the order of its streams, with every transfer alone on its
// links.
CriticalPath<InstanceId> critical_path(const Program& program);

// The same with the order of the compute stream alone: transfers that do not wait for each other
// may pass each other.
CriticalPath<InstanceId> dependency_path(const Program& program);

// `later` begins when `earlier` has finished, for a reason that the program does not state.
struct Precedence {
  InstanceId earlier{};
  InstanceId later{};
};

// Of a program with a duration for each instance (by InstanceId) and some more precedences.
CriticalPath<InstanceId> critical_path(const Program& program, std::span<const SimTime> durations,
                                       std::span<const Precedence> more);

// How long an instance takes when it has its links to itself: `fixed`, then the bytes at the rate
// of the slowest link of its path or the path's cap, rounded up to a whole picosecond.
SimTime uncontended_time(const Program& program, InstanceId instance);

}  // namespace tidemark
