#include "sim/stalls.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "hardware/ensure.hpp"

namespace tidemark::sim {
namespace {

constexpr StallCause cause_of(Stream stream) {
  switch (stream) {
    case Stream::kCopyIn:
      return StallCause::kPcieH2d;
    case Stream::kCopyOut:
      return StallCause::kPcieD2h;
    case Stream::kCpuOptimizer:
      return StallCause::kCpuOptimizer;
    case Stream::kNvmeRead:
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

// When an instance could start but for its memory.
SimTime due_of(const InstanceRecord& record) { return std::max(record.ready, record.issued); }

// When an instance that starts later than it is due got its memory, and thanks to whom.
struct Grant {
  InstanceId instance{};
  SimTime time{};
  std::size_t freed = 0;  // one more than the row of the last free before it in one of its tiers
};

class Attribution {
 public:
  Attribution(const Program& program, const Result& result) : program_(program), result_(result) {
    predecessor_.assign(program.instances.size(), kNoInstance);
    for (const std::vector<InstanceId>& order : program.order) {
      for (std::size_t i = 1; i < order.size(); ++i) predecessor_[index(order[i])] = order[i - 1];
    }
    find_grants();
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
  void find_grants() {
    std::array<std::size_t, kTierCount> last_free{};  // one more than the row of the event; 0: none
    for (std::size_t row = 0; row < result_.memory.size(); ++row) {
      const MemoryEvent& event = result_.memory[row];
      std::size_t& freed = last_free[static_cast<std::size_t>(buffer(event).tier)];
      if (!event.allocated) {
        freed = row + 1;
        continue;
      }
      if (event.instance == kNoInstance) continue;
      const InstanceRecord& record = result_.records[index(event.instance)];
      if (record.start == due_of(record)) continue;
      if (grants_.empty() || grants_.back().instance != event.instance) {
        grants_.push_back({event.instance, event.time, 0});
      }
      grants_.back().freed = std::max(grants_.back().freed, freed);
    }
    std::ranges::sort(grants_, {}, [](const Grant& g) { return index(g.instance); });
  }

  // Covers (from, start of id], latest span first.
  void explain_start(InstanceId id, SimTime from, InstanceId waiting) {
    for (;;) {
      const InstanceRecord& record = result_.records[index(id)];
      const SimTime due = due_of(record);
      if (record.start > due) {
        const Grant grant = grant_of(id);
        add(grant.time, record.start, from, StallCause::kAllocatorCall, waiting, id);
        add(due, grant.time, from, StallCause::kAllocation, waiting, freed_by(grant));
      }
      add(record.ready, due, from, StallCause::kLaunch, waiting, id);
      if (record.ready <= from) return;
      id = blocker_of(id, record.ready);
      add_run(id, from, waiting);
    }
  }

  // Without one of its own, another instance has taken what it waited for, in the same instant.
  Grant grant_of(InstanceId id) const {
    const auto at = std::ranges::lower_bound(grants_, index(id), {},
                                             [](const Grant& g) { return index(g.instance); });
    if (at != grants_.end() && at->instance == id) return *at;
    const SimTime start = result_.records[index(id)].start;
    const auto later = std::ranges::upper_bound(result_.memory, start, {}, &MemoryEvent::time);
    auto row = static_cast<std::size_t>(later - result_.memory.begin());
    while (row > 0 && result_.memory[row - 1].allocated) --row;
    return {id, start, row};
  }

  InstanceId freed_by(const Grant& grant) const {
    return grant.freed == 0 ? kNoInstance : result_.memory[grant.freed - 1].instance;
  }

  const Buffer& buffer(const MemoryEvent& event) const {
    return program_.buffers[index(event.buffer)];
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
  std::vector<InstanceId> predecessor_;  // on the same stream
  std::vector<Grant> grants_;            // by instance
  std::vector<Stall> gap_;               // latest first
  std::vector<Stall> stalls_;
};

}  // namespace

std::vector<Stall> attribute_stalls(const Program& program, const Result& result) {
  return Attribution(program, result).run();
}

}  // namespace tidemark::sim
