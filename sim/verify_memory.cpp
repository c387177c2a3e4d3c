// Every buffer's life, and the level of every tier.

#include <algorithm>
#include <optional>

#include "sim/verify_report.hpp"

namespace tidemark::sim {
namespace {

struct Life {
  std::vector<std::size_t> allocated;  // rows of Result::memory
  std::vector<std::size_t> freed;
  std::vector<InstanceId> users;
};

std::vector<Life> lives(const Program& program, const Result& result) {
  std::vector<Life> all(program.buffers.size());
  for (std::size_t row = 0; row < result.memory.size(); ++row) {
    Life& life = all[index(result.memory[row].buffer)];
    (result.memory[row].allocated ? life.allocated : life.freed).push_back(row);
  }
  for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
    for (const BufferId b : program.uses(InstanceId{i}))
      all[index(b)].users.push_back(InstanceId{i});
  }
  return all;
}

class Memory {
 public:
  Memory(const Program& program, const Result& result, const SimulateOptions& options,
         VerifyReport& report)
      : program_(program),
        result_(result),
        options_(options),
        report_(report),
        lives_(lives(program, result)) {}

  void run() {
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      allocation(BufferId{b});
      release(BufferId{b});
    }
    late_starts();
    levels();
    reserved();
    counts_at_finish();
    out_of_memory();
  }

 private:
  const InstanceRecord& record(InstanceId id) const { return result_.records[index(id)]; }
  const Buffer& buffer(BufferId id) const { return program_.buffers[index(id)]; }
  bool ran(InstanceId id) const { return record(id).finish != kNever; }
  bool asks_others(Tier tier) const {
    return options_.allocators[static_cast<std::size_t>(tier)] != nullptr;
  }

  void allocation(BufferId id) {
    const Life& life = lives_[index(id)];
    const bool used = std::ranges::any_of(life.users, [&](InstanceId u) { return ran(u); });
    const bool stopped_early =
        result_.out_of_memory && result_.out_of_memory->instance == kNoInstance;
    const bool expected = buffer(id).initial ? !stopped_early || !life.allocated.empty() : used;
    if (!report_.expect(life.allocated.size() == (expected ? 1u : 0u), Rule::kAllocation, id,
                        " is allocated ",
                        life.allocated.empty() ? "never" : "at the wrong times") ||
        !expected) {
      return;
    }
    const MemoryEvent& event = result_.memory[life.allocated.front()];
    for (const InstanceId user : life.users) {
      report_.expect(!ran(user) || event.time <= record(user).start, Rule::kAllocation, id,
                     " is allocated at ", event.time, ", after ", user, " has started");
    }
    if (buffer(id).initial) {
      report_.expect(event.time == SimTime(0) && event.instance == kNoInstance, Rule::kAllocation,
                     id, " should be there before the step");
      return;
    }
    const bool by_user = std::ranges::find(life.users, event.instance) != life.users.end();
    if (!report_.expect(by_user, Rule::kAllocation, id, " is allocated for ", event.instance,
                        ", which does not use it")) {
      return;
    }
    // Only an allocator that asks the driver lets time pass between the allocation and the start.
    const InstanceRecord& owner = record(event.instance);
    const bool driver = std::ranges::any_of(
        program_.uses(event.instance), [&](BufferId b) { return asks_others(buffer(b).tier); });
    report_.expect(std::max(owner.ready, owner.issued) <= event.time &&
                       (driver ? event.time <= owner.start : event.time == owner.start),
                   Rule::kAllocation, id, " is allocated at ", event.time, " for ", event.instance,
                   ", which starts at ", owner.start);
  }

  void release(BufferId id) {
    const Life& life = lives_[index(id)];
    const bool all_ran = std::ranges::all_of(life.users, [&](InstanceId u) { return ran(u); });
    const bool expected = !buffer(id).persistent && !life.users.empty() && all_ran;
    if (!report_.expect(life.freed.size() == (expected ? 1u : 0u), Rule::kFree, id, " is freed ",
                        life.freed.empty() ? "never" : "too often or though it stays") ||
        !expected) {
      return;
    }
    const MemoryEvent& event = result_.memory[life.freed.front()];
    SimTime last{};
    for (const InstanceId user : life.users) last = std::max(last, record(user).finish);
    const bool by_last = std::ranges::find(life.users, event.instance) != life.users.end() &&
                         record(event.instance).finish == event.time;
    report_.expect(event.time == last && by_last, Rule::kFree, id, " is freed at ", event.time,
                   " by ", event.instance, "; its last user finishes at ", last);
    report_.expect(!life.allocated.empty() && life.allocated.front() < life.freed.front(),
                   Rule::kFree, id, " is freed before it is allocated");
  }

  // Whoever starts later than it is ready and issued has waited for a buffer that was not there
  // yet.
  void late_starts() {
    for (std::uint32_t i = 0; i < program_.instances.size(); ++i) {
      const InstanceRecord& r = result_.records[i];
      if (r.finish == kNever || r.start <= std::max(r.ready, r.issued)) continue;
      const auto uses = program_.uses(InstanceId{i});
      const bool waited = std::any_of(uses.begin(), uses.end(), [&](BufferId b) {
        const std::vector<std::size_t>& rows = lives_[index(b)].allocated;
        return !rows.empty() && result_.memory[rows.front()].time >= std::max(r.ready, r.issued);
      });
      report_.expect(waited, Rule::kStart, InstanceId{i}, " is ready at ", r.ready, ", issued at ",
                     r.issued, " and starts at ", r.start, " without having waited for memory");
    }
  }

  // What lives lies in what was reserved, set-aside memory apart; no more is noted than the peak.
  void reserved() {
    for (std::size_t t = 0; t < kTierCount; ++t) {
      const Tier tier = static_cast<Tier>(t);
      Bytes level, now;
      SimTime before{};
      auto next = result_.reserved.begin();
      for (std::size_t row = 0; row < result_.memory.size(); ++row) {
        const MemoryEvent& event = result_.memory[row];
        const Buffer& b = buffer(event.buffer);
        if (b.tier == tier && !is_set_aside(b)) {
          level = event.allocated ? level + b.bytes : level - b.bytes;
        }
        const bool last =
            row + 1 == result_.memory.size() || result_.memory[row + 1].time > event.time;
        if (!last) continue;
        for (; next != result_.reserved.end() && next->time <= event.time; ++next) {
          if (next->tier != tier) continue;
          report_.expect(next->time >= before && next->reserved != now, Rule::kCapacity, "at ",
                         next->time, " a reservation is noted that is not new");
          report_.expect(next->reserved <= result_.allocators[t].end.reserved_peak, Rule::kCapacity,
                         "at ", next->time, " more is reserved than the peak, ", next->reserved);
          before = next->time;
          now = next->reserved;
        }
        report_.expect(!asks_others(tier) || level <= now, Rule::kCapacity, "at ", event.time, " ",
                       level, " live in a reservation of ", now);
      }
    }
    for (const ReservedLevel& level : result_.reserved) {
      report_.expect(asks_others(level.tier), Rule::kCapacity, "at ", level.time,
                     " something is reserved in a tier without an allocator");
    }
  }

  void levels() {
    Bytes allocated, freed, stays;
    for (const MemoryEvent& event : result_.memory) {
      const Buffer& b = buffer(event.buffer);
      const auto t = static_cast<std::size_t>(b.tier);
      level_[t] = event.allocated ? level_[t] + b.bytes : level_[t] - b.bytes;
      (event.allocated ? allocated : freed) += b.bytes;
      const bool bounded = options_.capacity == Capacity::kEnforced && !asks_others(b.tier);
      report_.expect(level_[t].count >= 0 && (!bounded || level_[t] <= program_.capacity[t]),
                     Rule::kCapacity, "at ", event.time, " a tier of ", program_.capacity[t],
                     " holds ", level_[t]);
    }
    if (result_.out_of_memory) return;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      const bool unused = lives_[b].users.empty();
      if (unused ? program_.buffers[b].initial : program_.buffers[b].persistent) {
        stays += program_.buffers[b].bytes;
      }
    }
    report_.expect(allocated == freed + stays, Rule::kBalance, "allocated ", allocated,
                   " should be freed ", freed, " + what stays ", stays);
  }

  // Rows up to the count are not later than the finish, and the instance's own frees are among
  // them.
  void counts_at_finish() {
    for (std::uint32_t i = 0; i < program_.instances.size(); ++i) {
      const InstanceRecord& r = result_.records[i];
      if (r.finish == kNever) continue;
      const std::size_t count = r.events_at_finish;
      const bool in_time =
          count <= result_.memory.size() &&
          (count == 0 || result_.memory[count - 1].time <= r.finish) &&
          (count == result_.memory.size() || result_.memory[count].time >= r.finish);
      report_.expect(in_time, Rule::kFree, InstanceId{i},
                     " counts the wrong memory events at its finish");
      for (const BufferId b : program_.uses(InstanceId{i})) {
        for (const std::size_t row : lives_[index(b)].freed) {
          report_.expect(result_.memory[row].instance != InstanceId{i} || row < count, Rule::kFree,
                         InstanceId{i}, " frees ", b, " after its finish has been counted");
        }
      }
    }
  }

  void out_of_memory() {
    if (!result_.out_of_memory) return;
    const OutOfMemory& failure = *result_.out_of_memory;
    const bool known =
        index(failure.buffer) < program_.buffers.size() &&
        (failure.instance == kNoInstance || index(failure.instance) < program_.instances.size());
    if (!report_.expect(known, Rule::kOutOfMemory, "the failure names nothing that exists")) return;
    const Buffer& b = buffer(failure.buffer);
    report_.expect(failure.tier == b.tier && failure.requested == b.bytes, Rule::kOutOfMemory,
                   failure.buffer, " is not the request that failed");
    report_.expect(failure.instance == kNoInstance ? b.initial : !ran(failure.instance),
                   Rule::kOutOfMemory, failure.instance, " cannot have failed for want of memory");
    if (asks_others(b.tier)) return;
    const auto t = static_cast<std::size_t>(b.tier);
    report_.expect(
        failure.requested > failure.free && failure.free <= program_.capacity[t] - level_[t],
        Rule::kOutOfMemory, "with ", program_.capacity[t] - level_[t], " free ", failure.requested,
        " should have been had");
  }

  const Program& program_;
  const Result& result_;
  const SimulateOptions& options_;
  VerifyReport& report_;
  std::vector<Life> lives_;
  std::array<Bytes, kTierCount> level_{};
};

}  // namespace

void verify_memory(const Program& program, const Result& result, const SimulateOptions& options,
                   VerifyReport& report) {
  Memory(program, result, options, report).run();
}

}  // namespace tidemark::sim
