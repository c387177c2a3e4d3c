#include "tools/analysis/executed_path.hpp"

#include <algorithm>
#include <cstdint>

#include "graph/critical_path.hpp"
#include "hardware/ensure.hpp"
#include "sim/grants.hpp"

namespace tidemark::tools {
namespace {

// When each instance could begin, and what it waited for beside what the program says.
struct Beginnings {
  std::vector<SimTime> begin;  // by InstanceId
  std::vector<Precedence> memory;
};

Beginnings beginnings(const Program& program, const sim::Result& result) {
  const sim::Grants grants(program, result);
  Beginnings found;
  found.begin.resize(program.instances.size());
  for (std::uint32_t i = 0; i < found.begin.size(); ++i) {
    const sim::InstanceRecord& record = result.records[i];
    if (record.finish == sim::kNever) continue;
    found.begin[i] = record.ready;
    const SimTime due = sim::due_of(record);
    if (record.start == due) continue;
    const sim::Grant grant = grants.of(InstanceId{i});
    if (grant.time == due) continue;
    ensure(grant.freed_by != kNoInstance, "memory that was waited for came from an instance");
    found.begin[i] = grant.time;
    found.memory.push_back({grant.freed_by, InstanceId{i}});
  }
  return found;
}

}  // namespace

std::vector<PathSpan> executed_path(const Program& program, const sim::Result& result) {
  const Beginnings found = beginnings(program, result);
  std::vector<SimTime> durations(program.instances.size());
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const SimTime finish = result.records[i].finish;
    if (finish != sim::kNever) durations[i] = finish - found.begin[i];
  }
  const CriticalPath<InstanceId> longest = critical_path(program, durations, found.memory);
  ensure(longest.length == result.end, "the critical path is as long as the step");

  std::vector<PathSpan> path;
  path.reserve(longest.path.size());
  for (const InstanceId id : longest.path) {
    const sim::InstanceRecord& record = result.records[index(id)];
    if (record.finish == sim::kNever) break;  // of no duration: the run ended before
    const SimTime begin = found.begin[index(id)];
    const bool after_memory = begin > record.ready;
    const SimTime issued = std::clamp(sim::due_of(record), begin, record.start);
    path.push_back({id, begin, issued, record.start, record.finish, after_memory});
  }
  return path;
}

}  // namespace tidemark::tools
