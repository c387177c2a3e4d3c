#include "sim/allocators/pinned_host.hpp"

#include <algorithm>
#include <bit>

#include "hardware/ensure.hpp"

namespace tidemark::sim {
namespace {

constexpr Bytes size_of(std::uint8_t log2) { return Bytes(std::int64_t{1} << log2); }

void raise(Bytes& level, Bytes& peak, Bytes by) {
  level += by;
  peak = std::max(peak, level);
}

}  // namespace

std::optional<Allocation> PinnedHostAllocator::allocate(Bytes bytes, Stream) {
  ensure(bytes.count >= 0 && bytes.count <= std::int64_t{1} << 62, "a request has a size");
  if (bytes.count == 0) return Allocation{};
  poll_events();
  const auto log2 =
      static_cast<std::uint8_t>(64 - std::countl_zero(static_cast<std::uint64_t>(bytes.count) - 1));
  const Bytes size = size_of(log2);
  std::size_t i = 0;
  SimTime driver_time{};
  if (!free_[log2].empty()) {
    i = free_[log2].back();
    free_[log2].pop_back();
  } else {
    if (size > capacity_ - statistics_.reserved) {
      failure_ = AllocationFailure{bytes,
                                   size,
                                   capacity_,
                                   capacity_ - statistics_.reserved,
                                   std::nullopt,
                                   statistics_.allocated,
                                   statistics_.reserved - statistics_.allocated};
      return std::nullopt;
    }
    if (released_.empty()) {
      i = blocks_.size();
      blocks_.emplace_back();
    } else {
      i = released_.back();
      released_.pop_back();
    }
    driver_time = time_at_rate(size.count, costs_.page_lock.count);
    statistics_.driver_time += driver_time;
    ++statistics_.driver_allocations;
    raise(statistics_.reserved, statistics_.reserved_peak, size);
  }
  blocks_[i] = Block{log2, State::kAllocated, 0, 0};
  raise(statistics_.allocated, statistics_.allocated_peak, size);
  raise(statistics_.active, statistics_.active_peak, size);
  return Allocation{i + 1, driver_time};
}

void PinnedHostAllocator::record_stream(std::uint64_t handle, Stream stream) {
  if (handle == 0) return;
  Block& block = blocks_[handle - 1];
  ensure(block.state == State::kAllocated, "only what is allocated is used");
  block.used_on = static_cast<std::uint8_t>(block.used_on | 1u << static_cast<unsigned>(stream));
}

void PinnedHostAllocator::free(std::uint64_t handle) {
  if (handle == 0) return;
  const std::size_t i = handle - 1;
  ensure(i < blocks_.size() && blocks_[i].state == State::kAllocated,
         "only what is allocated is freed");
  Block& block = blocks_[i];
  statistics_.allocated -= size_of(block.log2);
  if (block.used_on == 0) {
    statistics_.active -= size_of(block.log2);
    block.state = State::kFree;
    free_[block.log2].push_back(i);
    return;
  }
  block.state = State::kPending;
  for (std::size_t s = 0; s < events_.size(); ++s) {
    if ((block.used_on >> s & 1) == 0) continue;
    events_[s].push_back(i);
    ++events_recorded_[s];
    ++block.pending_events;
  }
}

std::uint64_t PinnedHostAllocator::events_recorded(Stream stream) const {
  return events_recorded_[static_cast<std::size_t>(stream)];
}

void PinnedHostAllocator::complete_events(Stream stream, std::uint64_t count) {
  const auto s = static_cast<std::size_t>(stream);
  ensure(count <= events_recorded_[s], "only recorded events complete");
  events_completed_[s] = std::max(events_completed_[s], count);
}

void PinnedHostAllocator::poll_events() {
  for (std::size_t s = 0; s < events_.size(); ++s) {
    std::deque<std::size_t>& waiting = events_[s];
    while (!waiting.empty() && events_recorded_[s] - waiting.size() < events_completed_[s]) {
      const std::size_t i = waiting.front();
      waiting.pop_front();
      Block& block = blocks_[i];
      if (--block.pending_events > 0) continue;
      statistics_.active -= size_of(block.log2);
      block.state = State::kFree;
      free_[block.log2].push_back(i);
    }
  }
}

void PinnedHostAllocator::empty_cache() {
  poll_events();
  for (std::vector<std::size_t>& list : free_) {
    for (const std::size_t i : list) {
      statistics_.reserved -= size_of(blocks_[i].log2);
      ++statistics_.driver_frees;
      blocks_[i].state = State::kReleased;
      released_.push_back(i);
    }
    list.clear();
  }
}

// The largest power of two that is free or still fits.
Bytes PinnedHostAllocator::available() const {
  std::int64_t most = (capacity_ - statistics_.reserved).count;
  if (most > 0) most = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
  for (std::size_t log2 = free_.size(); log2-- > 0;) {
    if (!free_[log2].empty()) return Bytes(std::max(most, std::int64_t{1} << log2));
  }
  return Bytes(std::max<std::int64_t>(most, 0));
}

AllocatorStatistics PinnedHostAllocator::statistics() const { return statistics_; }

}  // namespace tidemark::sim
