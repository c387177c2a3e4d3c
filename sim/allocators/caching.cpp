#include "sim/allocators/caching.hpp"

#include "hardware/ensure.hpp"
#include "sim/allocators/caching_rounding.hpp"

namespace tidemark::sim {

CachingAllocator::CachingAllocator(Bytes capacity, const CachingSettings& settings,
                                   Bytes device_memory)
    : settings_(settings),
      device_memory_(device_memory.count > 0 ? device_memory.count : capacity.count),
      allowed_(kUnlimited.count),
      collects_garbage_(settings.memory_fraction && settings.garbage_collection_threshold > 0),
      driver_(capacity, settings.costs) {
  if (settings.memory_fraction) {
    allowed_ =
        static_cast<std::int64_t>(*settings.memory_fraction * static_cast<double>(device_memory_));
  }
}

CachingAllocator::CachingAllocator(Bytes capacity, const CachingSettings& settings,
                                   const MemorySnapshot& start)
    : CachingAllocator(capacity, settings) {
  restore(start);
}

std::optional<Allocation> CachingAllocator::allocate(Bytes bytes, Stream stream) {
  ensure(bytes.count >= 0, "a request has a size");
  if (bytes.count == 0) return Allocation{};
  const SimTime before = driver_.time();
  if (events_waiting_ > 0) poll_events();
  const std::int64_t size = block_size(bytes.count, settings_);
  const Request request{stream, size, segment_size(size), in_small_pool(size)};
  BlockIndex found = find_free(request);
  if (found == kNoBlock) found = find_new(request);
  if (found == kNoBlock) {
    note_failure(request, bytes.count);
    return std::nullopt;
  }
  const BlockIndex handed = hand_out(found, request, bytes.count);
  return Allocation{std::uint64_t{handed} + 1, driver_.time() - before};
}

// Best fit: the smallest block that is large enough, then the lowest address; and only that one.
BlockIndex CachingAllocator::find_free(const Request& request) {
  CachingPool& from = pool(request.small);
  if (collects_garbage_) ++from.searches;
  FreeBlocks& free = from.free[static_cast<std::size_t>(request.stream)];
  FreeBlocks::Position at = free.first_of_at_least(request.size);
  if (at == FreeBlocks::end()) return kNoBlock;
  if (settings_.expandable_segments) {
    // A block counts with the space that it can still grow into, and the order is by size alone.
    for (FreeBlocks::Position next = free.next(at);
         blocks_[free[at].block].expandable != kOrdinarySegment && next != FreeBlocks::end() &&
         expandable_size(free[next].block) < expandable_size(free[at].block);
         next = free.next(at)) {
      at = next;
    }
  }
  const std::int64_t limit = settings_.max_split_size.count;
  const FreeBlocks::Entry entry = free[at];
  if (request.size < limit && entry.size >= limit) return kNoBlock;
  if (request.size >= limit &&
      entry.size - request.size >= settings_.max_non_split_rounding.count) {
    return kNoBlock;
  }
  free.erase(at);
  return entry.block;
}

BlockIndex CachingAllocator::find_new(const Request& request) {
  if (collects_garbage_) collect_garbage();
  BlockIndex found = take_segment(request);
  if (found == kNoBlock && release_oversize(request)) found = take_segment(request);
  if (found == kNoBlock) {
    release_cached();
    if (attempt_.counts_retries) ++counts_.retries;
    found = take_segment(request);
  }
  return found;
}

bool CachingAllocator::within_allowance(const Request& request) const {
  return request.segment <= allowed_ - reserved_.now;
}

BlockIndex CachingAllocator::take_segment(const Request& request) {
  if (!within_allowance(request)) return kNoBlock;
  if (settings_.expandable_segments) return take_expandable(request);
  const auto address = driver_.allocate(Bytes(request.segment));
  if (!address) return kNoBlock;
  reserved_.add(request.segment);
  ++counts_.driver_allocations;
  record(MemoryAction::kSegmentAlloc, *address, request.segment, request.stream);
  Block block;
  block.address = *address;
  block.size = request.segment;
  block.stream = request.stream;
  block.small = request.small;
  block.state = BlockState::kFree;
  return blocks_.add(block);
}

bool CachingAllocator::should_split(const Block& block, std::int64_t size) const {
  const std::int64_t rest = block.size - size;
  if (block.small || settings_.expandable_segments) return rest >= kMinimumBlock;
  return size < settings_.max_split_size.count && rest > kSmallLimit;
}

// `found` is in no free list. The low end is handed out; the rest stays behind under `found`.
BlockIndex CachingAllocator::hand_out(BlockIndex found, const Request& request,
                                      std::int64_t requested) {
  const bool was_split = blocks_[found].split();
  const bool counted = blocks_[found].expandable == kOrdinarySegment;  // as inactive split bytes
  BlockIndex handed = found;
  if (should_split(blocks_[found], request.size)) {
    Block low = blocks_[found];
    low.size = request.size;
    low.next = found;
    handed = blocks_.add(low);
    if (low.previous != kNoBlock) blocks_[low.previous].next = handed;
    Block& rest = blocks_[found];
    rest.previous = handed;
    rest.address += static_cast<std::uint64_t>(request.size);
    rest.size -= request.size;
    insert_free(found);
    if (counted) inactive_split_.add(was_split ? -request.size : rest.size);
  } else if (was_split && counted) {
    inactive_split_.add(-blocks_[found].size);
  }
  Block& block = blocks_[handed];
  block.state = BlockState::kAllocated;
  block.requested = requested;
  block.used_on = 0;
  record(MemoryAction::kAlloc, block.address, requested, block.stream);
  allocated_.add(block.size);
  active_.add(block.size);
  requested_.add(requested);
  return handed;
}

void CachingAllocator::note_failure(const Request& request, std::int64_t requested) {
  ++counts_.out_of_memory;
  const std::int64_t free = driver_.free_memory().count;
  record(MemoryAction::kOutOfMemory, static_cast<std::uint64_t>(free), request.size,
         request.stream);
  AllocationFailure failure;
  failure.requested = Bytes(requested);
  failure.tried = Bytes(request.segment);
  failure.capacity = Bytes(device_memory_);
  failure.free = Bytes(free);
  if (settings_.memory_fraction) failure.allowed = Bytes(allowed_);
  failure.allocated = Bytes(allocated_.now);
  failure.reserved_unallocated = Bytes(reserved_.now - allocated_.now);
  failure_ = failure;
}

void CachingAllocator::free(std::uint64_t handle) {
  if (handle == 0) return;
  const BlockIndex i = block_of(handle);
  ensure(i < blocks_.size() && blocks_[i].state == BlockState::kAllocated,
         "only what is allocated is freed");
  Block& block = blocks_[i];
  allocated_.add(-block.size);
  record(MemoryAction::kFreeRequested, block.address, block.requested, block.stream);
  if (block.used_on == 0) return complete_free(i);
  block.state = BlockState::kPending;
  for (std::size_t s = 0; s < events_.size(); ++s) {
    if ((block.used_on >> s & 1) == 0) continue;
    events_[s].push_back(i);
    ++events_recorded_[s];
    ++events_waiting_;
    ++block.pending_events;
  }
  block.used_on = 0;
}

void CachingAllocator::insert_free(BlockIndex i) {
  Block& block = blocks_[i];
  block.state = BlockState::kFree;
  block.searches = pool(block.small).searches;
  free_list(block).insert({block.size, block.address, i});
}

// `other` disappears into its neighbour `into`, which is in no list, if both are free and mapped
// alike. Returns the bytes gained.
std::int64_t CachingAllocator::merge(BlockIndex into, BlockIndex other) {
  if (other == kNoBlock) return 0;
  Block& block = blocks_[into];
  const Block neighbour = blocks_[other];
  const bool mapped = block.state != BlockState::kUnmapped;
  if (neighbour.state != (mapped ? BlockState::kFree : BlockState::kUnmapped)) return 0;
  if (mapped) {
    free_list(neighbour).erase(neighbour.size, neighbour.address);
  } else {
    erase_unmapped(other);
  }
  if (block.previous == other) {
    block.address = neighbour.address;
    block.previous = neighbour.previous;
    if (block.previous != kNoBlock) blocks_[block.previous].next = into;
  } else {
    block.next = neighbour.next;
    if (block.next != kNoBlock) blocks_[block.next].previous = into;
  }
  block.size += neighbour.size;
  blocks_.remove(other);
  return neighbour.size;
}

void CachingAllocator::complete_free(BlockIndex i) {
  Block& block = blocks_[i];
  record(MemoryAction::kFreeCompleted, block.address, block.requested, block.stream);
  active_.add(-block.size);
  requested_.add(-block.requested);
  block.state = BlockState::kFree;
  std::int64_t inactive = -merge(i, block.previous);
  inactive -= merge(i, block.next);
  insert_free(i);
  if (block.split()) inactive += block.size;
  // What is free in an expandable segment can go back page by page, and is not counted.
  if (block.expandable == kOrdinarySegment) inactive_split_.add(inactive);
}

void CachingAllocator::record_stream(std::uint64_t handle, Stream stream) {
  if (handle == 0) return;
  Block& block = blocks_[block_of(handle)];
  ensure(block.state == BlockState::kAllocated, "only what is allocated is used");
  if (stream == block.stream) return;
  block.used_on = static_cast<std::uint8_t>(block.used_on | 1u << static_cast<unsigned>(stream));
}

std::uint64_t CachingAllocator::events_recorded(Stream stream) const {
  return events_recorded_[static_cast<std::size_t>(stream)];
}

void CachingAllocator::complete_events(Stream stream, std::uint64_t count) {
  const auto s = static_cast<std::size_t>(stream);
  ensure(count <= events_recorded_[s], "only recorded events complete");
  if (count > events_completed_[s]) events_completed_[s] = count;
}

// Per stream in the order of recording, up to the first event that has not completed.
void CachingAllocator::poll_events() {
  for (std::size_t s = 0; s < events_.size(); ++s) {
    std::deque<BlockIndex>& waiting = events_[s];
    while (!waiting.empty() && events_recorded_[s] - waiting.size() < events_completed_[s]) {
      const BlockIndex i = waiting.front();
      waiting.pop_front();
      --events_waiting_;
      if (--blocks_[i].pending_events == 0) complete_free(i);
    }
  }
}

void CachingAllocator::wait_for_events() {
  ++counts_.synchronizations;
  events_completed_ = events_recorded_;
  poll_events();
}

void CachingAllocator::reset_peaks() {
  for (Gauge* const gauge : {&allocated_, &reserved_, &active_, &inactive_split_, &requested_}) {
    gauge->peak = gauge->now;
  }
}

void CachingAllocator::begin_attempt(Attempt attempt) {
  attempt_ = {allocated_.peak, active_.peak,   inactive_split_.peak,
              requested_.peak, driver_.time(), attempt == Attempt::kFirst};
}

// Fewer blocks may be whole than before, so that more may be inactive.
SimTime CachingAllocator::abandon_attempt() {
  allocated_.peak = attempt_.allocated;
  active_.peak = attempt_.active;
  requested_.peak = attempt_.requested;
  inactive_split_.peak = attempt_.inactive_split;
  inactive_split_.add(0);
  return driver_.time() - attempt_.driver_time;
}

CachingStatistics CachingAllocator::caching_statistics() const {
  CachingStatistics all = counts_;
  all.allocated = Bytes(allocated_.now);
  all.allocated_peak = Bytes(allocated_.peak);
  all.reserved = Bytes(reserved_.now);
  all.reserved_peak = Bytes(reserved_.peak);
  all.active = Bytes(active_.now);
  all.active_peak = Bytes(active_.peak);
  all.inactive_split = Bytes(inactive_split_.now);
  all.inactive_split_peak = Bytes(inactive_split_.peak);
  all.requested = Bytes(requested_.now);
  all.requested_peak = Bytes(requested_.peak);
  all.driver_time = driver_.time();
  return all;
}

}  // namespace tidemark::sim
