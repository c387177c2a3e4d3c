#include "sim/stalls.hpp"

#include <algorithm>
#include <cstdint>

#include "hardware/ensure.hpp"
#include "sim/grants.hpp"

namespace tidemark::sim {
namespace {

constexpr StallCause cause_of(Stream stream) {
  switch (stream) {
    case Stream::kCopyIn:
    case Stream::kFetch:
      return StallCause::kPcieH2d;
    case Stream::kCopyOut:
      return StallCause::kPcieD2h;
    case Stream::kCpuOptimizer:
      return StallCause::kCpuOptimizer;
    case Stream::kNvmeRead:
    case Stream::kNvmeFetch:
      return StallCause::kNvmeRead;
    case Stream::kNvmeWrite:
      return StallCause::kNvmeWrite;
    case Stream::kCommunication:
      return StallCause::kCommunication;
    case Stream::kCompute:
      break;
  }
  throw InternalError("the compute stream should not be what it waits for");
}

class Attribution {
 public:
  Attribution(const Program& program, const Result& result)
      : program_(program), result_(result), grants_(program, result) {
    predecessor_.assign(program.instances.size(), kNoInstance);
    for (const std::vector<InstanceId>& order : program.order) {
      for (std::size_t i = 1; i < order.size(); ++i) predecessor_[index(order[i])] = order[i - 1];
    }
  }

  std::vector<Stall> run() {
    SimTime begin{};
    for (const InstanceId id : program_.order[static_cast<std::size_t>(Stream::kCompute)]) {
      const InstanceRecord& record = result_.records[index(id)];
      if (record.finish == kNever) break;
      if (record.start > begin) explain_start(id, begin, id);
      close_gap();
      begin = record.finish;
    }
    if (result_.end > begin) explain_finish(last_finished(), begin, kNoInstance);
    close_gap();
    return std::move(stalls_);
  }

 private:
  // Covers (from, start of id], latest span first.
  void explain_start(InstanceId id, SimTime from, InstanceId waiting) {
    for (;;) {
      const InstanceRecord& record = result_.records[index(id)];
      const SimTime due = due_of(record);
      if (record.start > due) {
        const Grant grant = grants_.of(id);
        add(grant.time, record.start, from, StallCause::kAllocatorCall, waiting, id);
        add(due, grant.time, from, StallCause::kAllocation, waiting, grant.freed_by);
      }
      add(record.ready, due, from, StallCause::kLaunch, waiting, id);
      if (record.ready <= from) return;
      id = blocker_of(id, record.ready);
      add_run(id, from, waiting);
    }
  }

  // Covers (from, finish of id].
  void explain_finish(InstanceId id, SimTime from, InstanceId waiting) {
    add_run(id, from, waiting);
    explain_start(id, from, waiting);
  }

  void add_run(InstanceId id, SimTime from, InstanceId waiting) {
    const InstanceRecord& record = result_.records[index(id)];
    if (record.finish <= from) return;
    add(record.start, record.finish, from, cause_of(program_.instances[index(id)].stream), waiting,
        id);
  }

  // What made `id` ready at `ready`, no earlier.
  InstanceId blocker_of(InstanceId id, SimTime ready) const {
    for (const InstanceId dependency : program_.dependencies(id)) {
      if (result_.records[index(dependency)].finish == ready) return dependency;
    }
    const InstanceId before = predecessor_[index(id)];
    ensure(before != kNoInstance && result_.records[index(before)].finish == ready,
           "an instance should become ready when something finishes");
    return before;
  }

  InstanceId last_finished() const {
    for (const std::vector<InstanceId>& order : program_.order) {
      const auto ran = std::ranges::find_if(order.rbegin(), order.rend(), [&](InstanceId id) {
        return result_.records[index(id)].finish != kNever;
      });
      if (ran != order.rend() && result_.records[index(*ran)].finish == result_.end) return *ran;
    }
    throw InternalError("a step should end when an instance finishes");
  }

  void add(SimTime begin, SimTime end, SimTime from, StallCause cause, InstanceId waiting,
           InstanceId blocker) {
    begin = std::max(begin, from);
    if (begin >= end) return;
    if (!gap_.empty() && gap_.back().begin == end && gap_.back().cause == cause &&
        gap_.back().blocker == blocker) {
      gap_.back().begin = begin;
      return;
    }
    gap_.push_back({begin, end, cause, waiting, blocker});
  }

  void close_gap() {
    stalls_.insert(stalls_.end(), gap_.rbegin(), gap_.rend());
    gap_.clear();
  }

  const Program& program_;
  const Result& result_;
  Grants grants_;
  std::vector<InstanceId> predecessor_;  // on the same stream
  std::vector<Stall> gap_;               // latest first
  std::vector<Stall> stalls_;
};

}  // namespace

std::vector<Stall> attribute_stalls(const Program& program, const Result& result) {
  return Attribution(program, result).run();
}

}  // namespace tidemark::sim
