#pragma once
// PyTorch's CUDA caching allocator (the "native" backend), rule by rule.
//
// Memory comes from the driver in segments and stays cached: a request takes the smallest free
// block of its stream that serves it, and splits it.
//
//   allocate(3 MiB)            20 MiB segment: [3 MiB used][17 MiB free]
//   allocate(10 MiB)           10 MiB of the 17 MiB, before another segment is asked for
//   free of both               [20 MiB free]: neighbours merge, nothing returns to the driver
//   a request that fails       free cached segments return to the driver, then it is tried again
//
// Rules: c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.6, checked against logs of 2.11 on GPUs
// (tests/sim/allocators/allocator_logs_test.cpp). Not modelled: private pools of CUDA graphs and
// registered free-memory callbacks.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/allocators/allocator.hpp"
#include "sim/allocators/caching_blocks.hpp"
#include "sim/allocators/caching_pools.hpp"
#include "sim/allocators/caching_settings.hpp"
#include "sim/allocators/device_driver.hpp"
#include "sim/allocators/memory_snapshot.hpp"

namespace tidemark::sim {

struct CachingStatistics : AllocatorStatistics {
  Bytes requested, requested_peak;    // of what is in use or waits for another stream, unrounded
  std::int64_t out_of_memory = 0;     // refused requests
  std::int64_t synchronizations = 0;  // waits for all streams, before cached memory is returned
};

enum class Trace : std::uint8_t { kOff, kOn };

class CachingAllocator final : public Allocator {
 public:
  // `capacity`: what the driver can hand out. `device_memory`, what the device has in all, is what
  // the memory fraction is taken of; 0: the same.
  CachingAllocator(Bytes capacity, const CachingSettings& settings, Bytes device_memory = Bytes());
  // Starts from the state of a snapshot; blocks that are kPendingFree count as allocated.
  CachingAllocator(Bytes capacity, const CachingSettings& settings, const MemorySnapshot& start);

  // Handle 0 for 0 bytes, which take nothing.
  std::optional<Allocation> allocate(Bytes bytes, Stream stream) override;
  void free(std::uint64_t handle) override;
  Bytes available() const override;
  AllocatorStatistics statistics() const override { return caching_statistics(); }
  std::optional<AllocationFailure> last_failure() const override { return failure_; }
  bool set_aside(Bytes bytes) override { return driver_.set_aside(bytes); }
  void reset_peaks() override;
  void begin_attempt(Attempt attempt) override;
  SimTime abandon_attempt() override;

  // The block is used on another stream as well: free() then records an event there, and the block
  // stays active until the event has completed. Use on its own stream needs nothing.
  void record_stream(std::uint64_t handle, Stream stream);
  // Events recorded on a stream so far, counted from its first; complete_events(s, n): the first n
  // have completed. Completed events are noticed by the next allocate(), as polling would.
  std::uint64_t events_recorded(Stream stream) const;
  void complete_events(Stream stream, std::uint64_t count);

  // torch.cuda.empty_cache(): waits for all events, then returns what is free as a whole.
  void empty_cache();

  CachingStatistics caching_statistics() const;
  MemorySnapshot snapshot() const;
  std::uint64_t address_of(std::uint64_t handle) const { return blocks_[block_of(handle)].address; }
  std::optional<std::uint64_t> handle_at(std::uint64_t address) const;  // of an allocated block

  void trace(Trace on) { trace_on_ = on == Trace::kOn; }
  const std::vector<MemoryTraceEvent>& trace_events() const { return trace_; }
  DeviceDriver& driver() { return driver_; }

 private:
  struct Request {
    Stream stream;
    std::int64_t size;     // rounded
    std::int64_t segment;  // what the driver would be asked for
    bool small;
  };
  struct ExpandableSegment {
    std::uint64_t address = 0;
    std::int64_t size = 0;  // 0: released
    std::int64_t page = 0;
  };
  struct Gauge {
    std::int64_t now = 0, peak = 0;
    void add(std::int64_t bytes) {
      now += bytes;
      if (now > peak) peak = now;
    }
  };

  BlockIndex block_of(std::uint64_t handle) const { return static_cast<BlockIndex>(handle - 1); }
  CachingPool& pool(bool small) { return pools_[small ? 0 : 1]; }
  FreeBlocks& free_list(const Block& block) {
    return pool(block.small).free[static_cast<std::size_t>(block.stream)];
  }
  std::vector<BlockIndex>& unmapped_list(const Block& block) {
    return pool(block.small).unmapped[static_cast<std::size_t>(block.stream)];
  }
  void record(MemoryAction action, std::uint64_t address, std::int64_t size, Stream stream) {
    if (trace_on_) trace_.push_back({action, address, Bytes(size), stream});
  }

  // caching.cpp: finding, splitting, freeing.
  BlockIndex find_free(const Request& request);
  BlockIndex find_new(const Request& request);
  BlockIndex take_segment(const Request& request);
  bool within_allowance(const Request& request) const;
  bool should_split(const Block& block, std::int64_t size) const;
  BlockIndex hand_out(BlockIndex found, const Request& request, std::int64_t requested);
  void note_failure(const Request& request, std::int64_t requested);
  void insert_free(BlockIndex i);
  std::int64_t merge(BlockIndex into, BlockIndex other);
  void complete_free(BlockIndex i);
  void poll_events();
  void wait_for_events();

  // caching_release.cpp: memory that goes back to the driver.
  void collect_garbage();
  bool release_oversize(const Request& request);
  void release_cached();
  void release_pool(bool small);
  void release_segment(BlockIndex i);

  // caching_expandable.cpp: segments that grow.
  std::int64_t expandable_size(BlockIndex i) const;
  BlockIndex find_expandable(const Request& request);
  BlockIndex take_expandable(const Request& request);
  bool map_block(BlockIndex i, std::int64_t size);
  void unmap_block(BlockIndex i);
  void release_reservation(BlockIndex i);
  void insert_unmapped(BlockIndex i);
  void erase_unmapped(BlockIndex i);
  BlockIndex add_piece(BlockIndex of, std::uint64_t address, std::int64_t size);

  // caching_snapshot.cpp
  void restore(const MemorySnapshot& start);

  CachingSettings settings_;
  std::int64_t device_memory_;
  std::int64_t allowed_;  // by the memory fraction; kUnlimited without one
  bool collects_garbage_;
  DeviceDriver driver_;
  BlockTable blocks_;
  std::array<CachingPool, 2> pools_;  // small, large
  std::vector<ExpandableSegment> expandable_;

  std::array<std::deque<BlockIndex>, kStreamCount> events_;  // not noticed yet, oldest first
  std::array<std::uint64_t, kStreamCount> events_recorded_{}, events_completed_{};
  std::size_t events_waiting_ = 0;

  Gauge allocated_, reserved_, active_, inactive_split_, requested_;
  CachingStatistics counts_;  // the counters only
  std::optional<AllocationFailure> failure_;
  struct {
    std::int64_t allocated = 0, active = 0, inactive_split = 0, requested = 0;
    SimTime driver_time{};
    bool counts_retries = true;
  } attempt_;  // peaks and time at its beginning
  bool trace_on_ = false;
  std::vector<MemoryTraceEvent> trace_;
};

}  // namespace tidemark::sim
