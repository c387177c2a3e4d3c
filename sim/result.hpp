#pragma once
// What happened when a Program was played, as columns. What it adds up to stands in
// sim/account.hpp.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/ids.hpp"
#include "graph/program.hpp"
#include "hardware/units.hpp"
#include "sim/allocators/allocator.hpp"

namespace tidemark::sim {

// Why the compute stream stood still though it had work left: exactly one cause a span.
enum class StallCause : std::uint8_t {
  kPcieH2d,
  kPcieD2h,
  kNvmeRead,
  kNvmeWrite,
  kCpuOptimizer,
  kAllocation,     // waited for memory to come free
  kAllocatorCall,  // the allocator asked the driver
  kCommunication,
  kPipelineBubble,
  kLaunch,  // the host had not yet issued the next kernel
};
inline constexpr std::array<std::string_view, 10> kStallCauseNames = {
    "pcie_h2d",   "pcie_d2h",       "nvme_read",     "nvme_write",      "cpu_optimizer",
    "allocation", "allocator_call", "communication", "pipeline_bubble", "launch"};
inline constexpr int kStallCauseCount = static_cast<int>(kStallCauseNames.size());

// Stands in the records of instances that a run out of memory did not get to.
inline constexpr SimTime kNever{-1};

struct InstanceRecord {
  SimTime ready = kNever;  // dependencies finished and the stream free
  SimTime issued{};        // compute stream: the host has issued it
  SimTime start = kNever;  // memory allocated, driver calls made
  SimTime finish = kNever;
  std::uint32_t events_at_finish = 0;  // memory events recorded once its finish has freed buffers
};

// When an instance could start but for its memory.
inline SimTime due_of(const InstanceRecord& record) {
  return record.issued > record.ready ? record.issued : record.ready;
}

// A buffer was allocated (for `instance`, which starts then or once the driver has answered) or
// freed (when `instance` finished). Buffers that are there before the step are allocated first of
// all, at time 0 and for kNoInstance: levels add up from zero.
struct MemoryEvent {
  SimTime time{};
  BufferId buffer{};
  InstanceId instance{};
  bool allocated = false;
};

struct Stall {
  SimTime begin{};
  SimTime end{};
  StallCause cause{};
  InstanceId waiting{};  // compute instance that could not start; kNoInstance: end of the step
  InstanceId blocker{};  // what it waited for
};

struct OutOfMemory {
  Tier tier{};
  InstanceId instance{};
  BufferId buffer{};  // the allocation that failed
  Bytes requested;
  Bytes free;
  // What the tier's allocator found, if it says so.
  std::optional<AllocationFailure> failure = std::nullopt;
};

// What the allocator of a tier did in this run: counters and driver_time leave out what happened
// before, and peaks start from what was there.
struct AllocatorRecord {
  AllocatorStatistics end;
  AllocatorStatistics at_peak;  // at the first event after which the tier's level was highest
  std::optional<PlacementFigures> placement;
};

// Of a tier with an allocator that is not ideal: what it had taken from the driver, from here on.
struct ReservedLevel {
  SimTime time{};
  Tier tier{};
  Bytes reserved;
};

// Of a tier with an allocator that is not ideal: what stays there after the run.
struct KeptBuffer {
  BufferId buffer{};
  std::uint64_t handle = 0;
};

struct Result {
  std::optional<OutOfMemory> out_of_memory;  // set: the run stopped there
  std::vector<InstanceRecord> records;       // by InstanceId
  std::vector<MemoryEvent> memory;           // in order of time, then of occurrence
  std::vector<Stall> stalls;                 // in order of time, disjoint
  SimTime end{};                             // the last instance of any stream has finished
  SimTime compute_busy{};
  std::array<Bytes, kLinkCount> moved{};                 // bytes x weight of transfers, by LinkKind
  std::array<AllocatorRecord, kTierCount> allocators{};  // by Tier
  std::vector<ReservedLevel> reserved;  // where an instance found it changed; 0 before the first
  std::vector<KeptBuffer> kept;         // in order of buffers
};

}  // namespace tidemark::sim
