#pragma once
// PyTorch's cache of page-locked host memory: pin_memory() and the buffers of offloading.
//
//   request     1 B    5 B    4 KiB    17 GiB
//   block       1 B    8 B    4 KiB    32 GiB     the next power of two
//
// One free list per power of two; blocks are neither split nor merged nor returned to the system
// before empty_cache(). Rules: aten/src/ATen/core/CachingHostAllocator.h of PyTorch 2.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/allocators/allocator.hpp"

namespace tidemark::sim {

struct PinnedCosts {
  // Page-locking, bytes per second: 32 000 000 B in 11.6 ms (rapidsai/dask-cuda, issue 106).
  Bandwidth page_lock{2'758'620'689};
};

class PinnedHostAllocator final : public Allocator {
 public:
  explicit PinnedHostAllocator(Bytes capacity, const PinnedCosts& costs = {})
      : capacity_(capacity), costs_(costs) {}

  // nullopt: the host has no room for a new block. Nothing cached is given back first: PyTorch
  // fails as well, with "CUDA error: out of memory".
  std::optional<Allocation> allocate(Bytes bytes, Stream stream) override;
  void free(std::uint64_t handle) override;
  Bytes available() const override;
  AllocatorStatistics statistics() const override;
  std::optional<AllocationFailure> last_failure() const override { return failure_; }

  // A copy on `stream` uses the block: free() records an event there, whichever stream asked for
  // the block, and the block is used again once all its events have completed.
  void record_stream(std::uint64_t handle, Stream stream);
  std::uint64_t events_recorded(Stream stream) const;
  void complete_events(Stream stream, std::uint64_t count);  // as CachingAllocator's

  // Gives back every block that nobody uses, events that have completed included.
  void empty_cache();

 private:
  enum class State : std::uint8_t { kReleased, kFree, kAllocated, kPending };
  struct Block {
    std::uint8_t log2 = 0;  // size 2^log2
    State state = State::kFree;
    std::uint8_t used_on = 0;
    std::uint16_t pending_events = 0;
  };

  void poll_events();

  Bytes capacity_;
  PinnedCosts costs_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> released_;                // rows of blocks_ to use again
  std::array<std::vector<std::size_t>, 63> free_{};  // last in, first out
  std::array<std::deque<std::size_t>, kStreamCount> events_;
  std::array<std::uint64_t, kStreamCount> events_recorded_{}, events_completed_{};
  AllocatorStatistics statistics_;
  std::optional<AllocationFailure> failure_;
};

}  // namespace tidemark::sim
