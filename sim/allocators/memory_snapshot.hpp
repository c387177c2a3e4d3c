#pragma once
// What torch.cuda.memory._snapshot() shows: segments with their blocks, and the log of events.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/program.hpp"
#include "hardware/units.hpp"

namespace tidemark::sim {

enum class SnapshotState : std::uint8_t { kAllocated, kPendingFree, kInactive };
// As PyTorch's snapshots write them.
inline constexpr std::array<std::string_view, 3> kSnapshotStateNames = {
    "active_allocated", "active_pending_free", "inactive"};

struct SnapshotBlock {
  std::uint64_t address = 0;
  Bytes size;
  Bytes requested;  // before rounding; of an inactive block: of the request that it served last
  SnapshotState state{};
  friend bool operator==(const SnapshotBlock&, const SnapshotBlock&) = default;
};

// An ordinary segment, or one contiguous mapped range of an expandable one.
struct SnapshotSegment {
  std::uint64_t address = 0;
  Bytes size;
  Stream stream{};
  bool small = false;
  bool expandable = false;
  std::vector<SnapshotBlock> blocks;  // without gaps, by address
  friend bool operator==(const SnapshotSegment&, const SnapshotSegment&) = default;
};

using MemorySnapshot = std::vector<SnapshotSegment>;  // by address

enum class MemoryAction : std::uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOutOfMemory,
};
// As PyTorch's traces write them.
inline constexpr std::array<std::string_view, 8> kMemoryActionNames = {
    "alloc",        "free_requested", "free_completed", "segment_alloc",
    "segment_free", "segment_map",    "segment_unmap",  "oom"};

struct MemoryTraceEvent {
  MemoryAction action{};
  std::uint64_t address = 0;  // out of memory: bytes that the device still had free
  Bytes size;                 // alloc and free: as requested; out of memory: the rounded request
  Stream stream{};
  friend bool operator==(const MemoryTraceEvent&, const MemoryTraceEvent&) = default;
};

}  // namespace tidemark::sim
