#pragma once
// A second executor, as dumb as possible: no queue, no counters, everything is worked out anew from
// the list of instances at every step. It shares only the types with the real one.

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/program.hpp"
#include "sim/options.hpp"
#include "sim/result.hpp"
#include "tests/support/naive_links.hpp"

namespace tidemark::test {

class ReferenceExecutor {
 public:
  ReferenceExecutor(const Program& program, bool limited,
                    std::size_t launch_queue = sim::kLaunchQueue)
      : program_(program), limited_(limited), launch_queue_(launch_queue), links_(program.links) {
    result_.records.resize(program.instances.size());
    moving_.assign(program.instances.size(), false);
    moved_.assign(program.instances.size(), false);
  }

  sim::Result run() {
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (!program_.buffers[b].initial) continue;
      if (!fits(program_.buffers[b].tier, program_.buffers[b].bytes)) {
        fail(kNoInstance, BufferId{b}, Bytes(0));
        return result_;
      }
      result_.memory.push_back({now_, BufferId{b}, kNoInstance, true});
    }
    for (;;) {
      while (round()) {
      }
      const std::optional<SimTime> next = next_time();
      if (!next) break;
      for (const std::uint32_t tag : links_.pass((*next - now_).count())) moved_[tag] = true;
      now_ = *next;
    }
    for (const sim::InstanceRecord& r : result_.records) {
      if (r.finish != sim::kNever) result_.end = std::max(result_.end, r.finish);
    }
    for (int s = 0; s < kStreamCount && !result_.out_of_memory; ++s) {
      const std::optional<InstanceId> head = unfinished(s);
      if (head && ready(*head)) find_failure(*head);
    }
    return result_;
  }

  // The cause of the compute stream's standing still in the picosecond that begins at `t`; nullopt:
  // it runs. Only for a run that has ended.
  std::optional<sim::StallCause> cause_at(SimTime t) const {
    for (const InstanceId id : program_.order[0]) {
      const sim::InstanceRecord& r = record(id);
      if (r.finish == sim::kNever || r.finish <= t) continue;
      if (r.start <= t) return std::nullopt;
      return cause(id, t);
    }
    // The tail: whoever of the first stream finished last.
    for (int s = 0; s < kStreamCount; ++s) {
      for (const InstanceId id : program_.order[static_cast<std::size_t>(s)]) {
        const bool last = record(id).finish == result_.end && !followed(id);
        if (last) return record(id).start <= t ? cause_of(id) : cause(id, t);
      }
    }
    return std::nullopt;
  }

 private:
  // Finishes what is due, starts what can start; true if an instance of no duration is due now.
  bool round() {
    for (int s = 0; s < kStreamCount; ++s) {
      const std::optional<InstanceId> head = unfinished(s);
      if (head && started(*head) && done(*head)) finish(*head);
    }
    bool again = false;
    for (int s = 0; s < kStreamCount; ++s) {
      const std::optional<InstanceId> head = unfinished(s);
      if (!head || started(*head) || !ready(*head)) continue;
      sim::InstanceRecord& r = result_.records[index(*head)];
      if (r.ready == sim::kNever) r.ready = now_;
      r.issued = issued(*head);
      if (r.issued > now_) continue;
      if (!take_all(*head)) continue;
      r.start = now_;
      again = again || done(*head);
    }
    for (std::uint32_t i = 0; i < program_.instances.size(); ++i) {
      const Instance& instance = program_.instances[i];
      if (!started(InstanceId{i}) || moving_[i] || instance.bytes.count == 0) continue;
      if (result_.records[i].start + instance.fixed > now_) continue;
      links_.start(program_.paths[index(instance.path)], instance.bytes, i);
      moving_[i] = true;
      for (std::size_t l = 0; l < kLinkCount; ++l) {
        result_.moved[l] += instance.bytes * program_.paths[index(instance.path)].weight[l];
      }
    }
    return again;
  }

  std::optional<SimTime> next_time() {
    std::optional<SimTime> next;
    const auto offer = [&](SimTime t) { next = next ? std::min(*next, t) : t; };
    for (std::size_t i = 0; i < program_.instances.size(); ++i) {
      const sim::InstanceRecord& r = result_.records[i];
      if (r.start == sim::kNever || r.finish != sim::kNever || moving_[i]) continue;
      offer(r.start + program_.instances[i].fixed);
    }
    const std::optional<InstanceId> head = unfinished(0);
    if (head && ready(*head) && !started(*head) && issued(*head) > now_) offer(issued(*head));
    if (const auto wait = links_.wait()) offer(now_ + SimTime(*wait));
    return next;
  }

  // When the host has issued `id`, whose predecessors on its stream have started.
  SimTime issued(InstanceId id) const {
    const std::vector<InstanceId>& order = program_.order[0];
    if (program_.instances[index(id)].stream != Stream::kCompute) return SimTime(0);
    SimTime host{};
    for (std::size_t i = 0;; ++i) {
      if (i >= launch_queue_) host = std::max(host, record(order[i - launch_queue_]).start);
      host += program_.instances[index(order[i])].issue;
      if (order[i] == id) return host;
    }
  }

  bool done(InstanceId id) const {
    const Instance& instance = program_.instances[index(id)];
    if (instance.bytes.count > 0) return moved_[index(id)];
    return record(id).start + instance.fixed <= now_;
  }

  void finish(InstanceId id) {
    sim::InstanceRecord& r = result_.records[index(id)];
    r.finish = now_;
    const Instance& instance = program_.instances[index(id)];
    if (instance.stream == Stream::kCompute) result_.compute_busy += r.finish - r.start;
    for (const BufferId b : program_.uses(id)) {
      if (program_.buffers[index(b)].persistent) continue;
      bool last = true;
      for (std::uint32_t i = 0; i < program_.instances.size(); ++i) {
        if (result_.records[i].finish == sim::kNever && uses(InstanceId{i}, b)) last = false;
      }
      if (last) result_.memory.push_back({now_, b, id, false});
    }
    r.events_at_finish = static_cast<std::uint32_t>(result_.memory.size());
  }

  bool take_all(InstanceId id) {
    const std::size_t before = result_.memory.size();
    for (const BufferId b : program_.uses(id)) {
      if (alive(b)) continue;
      if (!fits(program_.buffers[index(b)].tier, program_.buffers[index(b)].bytes)) {
        result_.memory.resize(before);
        return false;
      }
      result_.memory.push_back({now_, b, id, true});
    }
    return true;
  }

  void find_failure(InstanceId id) {
    std::array<Bytes, kTierCount> beside{};
    for (const BufferId b : program_.uses(id)) {
      if (alive(b)) continue;
      const Buffer& buffer = program_.buffers[index(b)];
      Bytes& taken = beside[static_cast<std::size_t>(buffer.tier)];
      if (!fits(buffer.tier, taken + buffer.bytes)) return fail(id, b, taken);
      taken += buffer.bytes;
    }
  }

  void fail(InstanceId id, BufferId b, Bytes beside) {
    const Buffer& buffer = program_.buffers[index(b)];
    const Bytes capacity = program_.capacity[static_cast<std::size_t>(buffer.tier)];
    result_.out_of_memory =
        sim::OutOfMemory{buffer.tier, id, b, buffer.bytes, capacity - level(buffer.tier) - beside};
  }

  bool fits(Tier tier, Bytes bytes) const {
    return !limited_ || level(tier) + bytes <= program_.capacity[static_cast<std::size_t>(tier)];
  }
  Bytes level(Tier tier) const {
    Bytes sum;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].tier == tier && alive(BufferId{b})) sum += program_.buffers[b].bytes;
    }
    return sum;
  }
  bool alive(BufferId b) const {
    bool allocated = false;
    for (const sim::MemoryEvent& event : result_.memory) {
      if (event.buffer == b) allocated = event.allocated;
    }
    return allocated;
  }

  std::optional<InstanceId> unfinished(int stream) const {
    for (const InstanceId id : program_.order[static_cast<std::size_t>(stream)]) {
      if (record(id).finish == sim::kNever) return id;
    }
    return std::nullopt;
  }
  bool ready(InstanceId id) const {
    return std::ranges::all_of(program_.dependencies(id),
                               [&](InstanceId d) { return record(d).finish != sim::kNever; });
  }
  bool started(InstanceId id) const { return record(id).start != sim::kNever; }
  bool uses(InstanceId id, BufferId b) const {
    const auto row = program_.uses(id);
    return std::find(row.begin(), row.end(), b) != row.end();
  }
  bool followed(InstanceId id) const {
    const auto& order =
        program_.order[static_cast<std::size_t>(program_.instances[index(id)].stream)];
    const auto next = std::find(order.begin(), order.end(), id) + 1;
    return next != order.end() && record(*next).finish != sim::kNever;
  }
  const sim::InstanceRecord& record(InstanceId id) const { return result_.records[index(id)]; }

  sim::StallCause cause_of(InstanceId id) const {
    switch (program_.instances[index(id)].stream) {
      case Stream::kCopyIn:
      case Stream::kFetch:
        return sim::StallCause::kPcieH2d;
      case Stream::kCopyOut:
        return sim::StallCause::kPcieD2h;
      case Stream::kCpuOptimizer:
        return sim::StallCause::kCpuOptimizer;
      case Stream::kNvmeRead:
      case Stream::kNvmeFetch:
        return sim::StallCause::kNvmeRead;
      case Stream::kNvmeWrite:
        return sim::StallCause::kNvmeWrite;
      case Stream::kCommunication:
        return sim::StallCause::kCommunication;
      case Stream::kCompute:
        break;
    }
    return sim::StallCause::kPipelineBubble;  // never right
  }
  // Why `id`, which starts after `t`, had not started at `t`.
  sim::StallCause cause(InstanceId id, SimTime t) const {
    const sim::InstanceRecord& r = record(id);
    if (t >= r.ready) {
      return t < r.issued ? sim::StallCause::kLaunch : sim::StallCause::kAllocation;
    }
    std::optional<InstanceId> blocker;
    const auto& order =
        program_.order[static_cast<std::size_t>(program_.instances[index(id)].stream)];
    const auto own = std::find(order.begin(), order.end(), id);
    if (own != order.begin() && record(*(own - 1)).finish == r.ready) blocker = *(own - 1);
    const auto row = program_.dependencies(id);
    for (std::size_t d = row.size(); d-- > 0;) {
      if (record(row[d]).finish == r.ready) blocker = row[d];
    }
    return record(*blocker).start <= t ? cause_of(*blocker) : cause(*blocker, t);
  }

  const Program& program_;
  bool limited_;
  std::size_t launch_queue_;
  NaiveLinks links_;
  SimTime now_{};
  std::vector<bool> moving_;  // its transfer has begun
  std::vector<bool> moved_;   // its transfer is done
  sim::Result result_;
};

}  // namespace tidemark::test
