#pragma once
// The contract of an allocator: how one tier hands out its bytes.
//
// The executor calls allocate() when an instance starts and free() when the last user of the bytes
// has finished, so a block that another stream still reads is never freed early. Calls come in
// simulated time order. An allocator is deterministic, never looks at a clock, and keeps its own
// statistics.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "graph/program.hpp"
#include "hardware/units.hpp"

namespace tidemark::sim {

struct Allocation {
  std::uint64_t handle = 0;  // for free(); meaningless to anyone else
  SimTime driver_time{};     // spent in driver calls before the bytes were there
};

// Peaks since the last reset_peaks(), counters and driver_time since the beginning.
struct AllocatorStatistics {
  Bytes allocated, allocated_peak;  // as requested (and rounded, where the allocator rounds)
  Bytes reserved, reserved_peak;    // taken from the driver
  Bytes active, active_peak;        // allocated or waiting for another stream
  Bytes inactive_split, inactive_split_peak;
  std::int64_t driver_allocations = 0;
  std::int64_t driver_frees = 0;
  std::int64_t retries = 0;  // cache freed and tried again
  SimTime driver_time{};
};

// How an allocator that knows the whole step before it has placed it; all with what is set aside.
struct PlacementFigures {
  Bytes bound;            // most that lives at once: no placement takes less
  Bytes greedy;           // what the best of the simple rules takes
  std::string_view rule;  // whose placement it is
  Bytes end;              // of the highest place, which may lie beyond the capacity
};

// What a refused request found: the figures of PyTorch's out-of-memory message (out_of_memory.hpp).
struct AllocationFailure {
  Bytes requested;               // as asked for
  Bytes tried;                   // what the driver was asked for
  Bytes capacity;                // of the device
  Bytes free;                    // that the driver still had
  std::optional<Bytes> allowed;  // where less than the capacity may be used
  Bytes allocated;
  Bytes reserved_unallocated;  // held by the allocator, in pieces too small
};

// An instance takes all of its buffers or none: asking for them in turn is one attempt.
enum class Attempt : std::uint8_t {
  kFirst,
  kAgain,  // the instance was refused before, and has waited
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  // nullopt: does not fit, whatever is cached having been given back. bytes may be 0.
  virtual std::optional<Allocation> allocate(Bytes bytes, Stream stream) = 0;
  virtual void free(std::uint64_t handle) = 0;
  // What a request of any size could still get at most, for messages.
  virtual Bytes available() const = 0;
  virtual AllocatorStatistics statistics() const = 0;
  // About the last request that was refused; nullopt: there was none, or the allocator does not
  // say.
  virtual std::optional<AllocationFailure> last_failure() const { return std::nullopt; }

  // nullopt: it places as requests come.
  virtual std::optional<PlacementFigures> placement() const { return std::nullopt; }

  // Memory that others have taken for good (the CUDA context); false: there is not as much. It is
  // in no statistics, unless the allocator knows no difference.
  virtual bool set_aside(Bytes bytes) { return allocate(bytes, Stream::kCompute).has_value(); }
  // Peaks are what is there now.
  virtual void reset_peaks() {}
  // What is asked for from here on belongs to one attempt. Only a first one counts its retries.
  virtual void begin_attempt(Attempt) {}
  // The attempt failed, and what it was granted has been freed. Peaks are what they were before it,
  // save that of `reserved`: the driver was really asked. Returns the driver's time since then.
  virtual SimTime abandon_attempt() { return SimTime(0); }
};

}  // namespace tidemark::sim
