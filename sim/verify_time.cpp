// Dependencies, streams, durations and the end of the step.

#include <algorithm>
#include <limits>

#include "sim/verify_report.hpp"

namespace tidemark::sim {
namespace {

// A transfer's time if it had its links to itself.
SimTime alone(const Program& program, const Instance& instance) {
  if (instance.bytes.count == 0) return instance.fixed;
  const Path& path = program.paths[index(instance.path)];
  std::int64_t rate = std::numeric_limits<std::int64_t>::max();
  if (path.cap.count > 0) rate = path.cap.count;
  for (const Link& link : program.links) {
    const std::int64_t weight = path.weight[static_cast<std::size_t>(link.kind)];
    if (weight > 0) rate = std::min(rate, std::max<std::int64_t>(1, link.capacity.count / weight));
  }
  return instance.fixed + time_at_rate(instance.bytes.count, rate);
}

// For each instance what it has to wait for: its dependencies and the one before it on its stream.
std::vector<std::vector<InstanceId>> predecessors(const Program& program) {
  std::vector<std::vector<InstanceId>> before(program.instances.size());
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    for (const InstanceId d : program.dependencies(InstanceId{i})) before[i].push_back(d);
  }
  for (const std::vector<InstanceId>& order : program.order) {
    for (std::size_t i = 1; i < order.size(); ++i) {
      before[index(order[i])].push_back(order[i - 1]);
    }
  }
  return before;
}

// The earliest that each instance could finish with all links and memory to itself.
std::vector<SimTime> longest_paths(const Program& program,
                                   const std::vector<std::vector<InstanceId>>& before) {
  std::vector<std::vector<std::uint32_t>> after(before.size());
  std::vector<std::size_t> open(before.size());
  std::vector<std::uint32_t> settled;
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    open[i] = before[i].size();
    if (open[i] == 0) settled.push_back(i);
    for (const InstanceId b : before[i]) after[index(b)].push_back(i);
  }
  std::vector<SimTime> finish(before.size());
  for (std::size_t next = 0; next < settled.size(); ++next) {
    const std::uint32_t i = settled[next];
    for (const InstanceId b : before[i]) finish[i] = std::max(finish[i], finish[index(b)]);
    finish[i] += alone(program, program.instances[i]);
    for (const std::uint32_t a : after[i]) {
      if (--open[a] == 0) settled.push_back(a);
    }
  }
  return finish;
}

void verify_instance(const Program& program, const Result& result, InstanceId id,
                     const std::vector<InstanceId>& before, VerifyReport& report) {
  const InstanceRecord& record = result.records[index(id)];
  SimTime ready{};
  for (const InstanceId b : before) {
    const SimTime finish = result.records[index(b)].finish;
    report.expect(finish != kNever && finish <= record.start, Rule::kDependencies, id,
                  " starts at ", record.start, ", before ", b, " has finished");
    ready = std::max(ready, finish);
  }
  report.expect(record.ready == ready, Rule::kDependencies, id, " should be ready at ", ready,
                ", not at ", record.ready);
  report.expect(record.ready <= record.start, Rule::kStart, id, " starts at ", record.start,
                ", before it is ready at ", record.ready);
  const Instance& instance = program.instances[index(id)];
  const SimTime took = record.finish - record.start;
  if (instance.bytes.count == 0) {
    report.expect(took == instance.fixed, Rule::kDuration, id, " takes ", took, " instead of ",
                  instance.fixed);
  } else {
    report.expect(took >= alone(program, instance), Rule::kDuration, id, " takes ", took,
                  ", less than its links allow: ", alone(program, instance));
  }
}

void verify_streams(const Program& program, const Result& result, VerifyReport& report) {
  std::array<SimTime, kStreamCount> busy{};
  for (std::size_t s = 0; s < kStreamCount; ++s) {
    SimTime free{};
    bool stopped = false;
    for (const InstanceId id : program.order[s]) {
      const InstanceRecord& record = result.records[index(id)];
      if (record.finish == kNever) {
        stopped = true;
        continue;
      }
      report.expect(!stopped, Rule::kStreams, id,
                    " runs though one before it on its stream did not");
      report.expect(record.start >= free, Rule::kStreams, id, " starts at ", record.start,
                    " while its stream is busy until ", free);
      free = record.finish;
      busy[s] += record.finish - record.start;
    }
    report.expect(busy[s] <= result.end, Rule::kEnd, "stream ", kStreamNames[s], " is busy for ",
                  busy[s], ", longer than the step: ", result.end);
  }
  const SimTime compute = busy[static_cast<std::size_t>(Stream::kCompute)];
  report.expect(result.compute_busy == compute, Rule::kIdentity, "compute runs for ", compute,
                ", not for ", result.compute_busy);
}

}  // namespace

void verify_time(const Program& program, const Result& result, VerifyReport& report) {
  const std::vector<std::vector<InstanceId>> before = predecessors(program);
  const std::vector<SimTime> earliest = longest_paths(program, before);
  SimTime end{};
  for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
    const InstanceId id{i};
    const InstanceRecord& record = result.records[i];
    if (record.finish == kNever || record.start == kNever) continue;
    verify_instance(program, result, id, before[i], report);
    report.expect(record.finish >= earliest[i], Rule::kEnd, id, " finishes at ", record.finish,
                  ", before the longest path to it allows: ", earliest[i]);
    end = std::max(end, record.finish);
  }
  report.expect(result.end == end, Rule::kEnd, "the step should end at ", end, ", not at ",
                result.end);
  verify_streams(program, result, report);
}

}  // namespace tidemark::sim
