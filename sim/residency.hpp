#pragma once
// Which buffers of a Program are there: takes them from the tiers' allocators for the instance that
// uses them first, gives them back after the last, and keeps the record of both.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/program.hpp"
#include "sim/allocators/ideal.hpp"
#include "sim/options.hpp"
#include "sim/result.hpp"

namespace tidemark::sim {

class Residency {
 public:
  Residency(const Program& program, const SimulateOptions& options);
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  // Takes all `initial` buffers at time 0; returns the one that was refused, if any.
  std::optional<BufferId> take_initial();

  // Takes all buffers that `instance` is the first to use, or none: returns the one that was
  // refused. Adds what the driver took to `driver_time`, whether it was of use or not; makes it 0
  // if another instance has taken all of them meanwhile.
  std::optional<BufferId> take(InstanceId instance, Stream stream, SimTime now,
                               SimTime& driver_time);

  // The same for an instance that runs again and needs `made`: those that are not there.
  std::optional<BufferId> take_again(std::span<const BufferId> made, InstanceId instance,
                                     SimTime now);

  // Frees the buffers of which `instance` was the last user, unless `policy` keeps them.
  void release_after(InstanceId instance, SimTime now, RuntimePolicy* policy = nullptr);

  // Frees it before its last user is done, who is not to miss it: a policy makes it again.
  void evict(BufferId buffer, SimTime now);
  // Frees it if it is there and its last user is done.
  void drop(BufferId buffer, SimTime now);

  // Of an ideal tier, from now on.
  void set_capacity(Tier tier, Bytes capacity);

  // Buffers that have been freed in the tier of `buffer`: no more of them, no use in asking again.
  std::uint64_t frees_beside(BufferId buffer) const { return frees_[tier(buffer)]; }

  // Why `instance`, to which `refused` was once refused, still cannot have its buffers. `free` is
  // what is left beside those that stand before the failing one in its row.
  OutOfMemory shortfall(InstanceId instance, Stream stream, BufferId refused);

  std::uint32_t event_count() const { return static_cast<std::uint32_t>(events_.size()); }
  std::vector<MemoryEvent> take_events() { return std::move(events_); }
  std::array<AllocatorRecord, kTierCount> allocator_records() const;
  std::vector<ReservedLevel> take_reserved() { return std::move(reserved_); }
  std::vector<KeptBuffer> kept() const;

 private:
  void list_wanted(InstanceId instance);
  std::optional<BufferId> take_wanted(InstanceId instance, Stream stream, SimTime now,
                                      SimTime& driver_time);
  std::optional<BufferId> refused_by_counting() const;
  std::optional<BufferId> refused_by_allocators(Stream stream, SimTime& driver_time);
  SimTime give_up(std::size_t refused);
  void hold(BufferId id, InstanceId instance, SimTime now);
  void give_back(BufferId id, InstanceId instance, SimTime now);
  void note_levels(SimTime now);

  const Buffer& buffer(BufferId id) const { return program_.buffers[index(id)]; }
  std::size_t tier(BufferId id) const { return static_cast<std::size_t>(buffer(id).tier); }

  const Program& program_;
  std::vector<IdealAllocator> own_;                  // by tier
  std::array<IdealAllocator*, kTierCount> ideal_{};  // nullptr: ask allocators_
  std::array<Allocator*, kTierCount> allocators_{};
  bool all_ideal_ = true;
  std::array<std::uint64_t, kTierCount> frees_{};
  std::vector<std::uint32_t> uses_left_;  // by BufferId
  enum class Held : std::uint8_t { kNot, kThere, kEvicted };
  std::vector<Held> held_;              // by BufferId
  std::vector<std::uint64_t> handles_;  // by BufferId; empty if all tiers are ideal
  std::vector<BufferId> wanted_;        // scratch: not held by the instance that is to start
  std::vector<MemoryEvent> events_;
  std::vector<ReservedLevel> reserved_;

  // Of tiers that are not ideal.
  struct Watched {
    AllocatorStatistics before;
    AllocatorStatistics at_peak;
    Bytes level;  // of buffers, as they are
    Bytes peak{-1};
    Bytes reserved;  // last noted; 0 before the first
  };
  std::array<Watched, kTierCount> watched_;
  struct Asking {
    Attempt attempt{};  // kAgain: the instance that is next on the stream has been refused
    std::optional<AllocationFailure> failure;  // of the last refusal
  };
  std::array<Asking, kStreamCount> asking_;
};

}  // namespace tidemark::sim
