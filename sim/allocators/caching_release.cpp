// Memory that goes back to the driver: garbage collection, oversize blocks, the whole cache.

#include "hardware/ensure.hpp"
#include "sim/allocators/caching.hpp"
#include "sim/allocators/caching_rounding.hpp"

namespace tidemark::sim {

void CachingAllocator::release_segment(BlockIndex i) {
  const Block block = blocks_[i];
  ensure(!block.split() && block.expandable == kOrdinarySegment,
         "a segment goes back to the driver as a whole");
  ++counts_.driver_frees;
  record(MemoryAction::kSegmentFree, block.address, block.size, block.stream);
  driver_.free(block.address);
  reserved_.add(-block.size);
  free_list(block).erase(block.size, block.address);
  blocks_.remove(i);
}

// Frees large segments that no search has touched for longer than the average, pass by pass, until
// enough is free. The age of a block is counted in searches of its pool.
void CachingAllocator::collect_garbage() {
  const auto threshold = static_cast<std::int64_t>(settings_.garbage_collection_threshold *
                                                   static_cast<double>(allowed_));
  if (reserved_.now <= threshold) return;
  const std::int64_t target = reserved_.now - threshold;
  CachingPool& large = pool(false);
  std::vector<BlockIndex> candidates;  // by stream, size and address
  std::uint64_t total_age = 0;
  for (const FreeBlocks& free : large.free) {
    for (auto at = free.begin(); at != FreeBlocks::end(); at = free.next(at)) {
      const BlockIndex i = free[at].block;
      if (blocks_[i].split()) continue;
      candidates.push_back(i);
      total_age += large.searches - blocks_[i].searches;
    }
  }
  std::int64_t reclaimed = 0;
  for (bool freed = true; reclaimed < target && freed && !candidates.empty();) {
    const double average = static_cast<double>(total_age) / static_cast<double>(candidates.size());
    std::vector<BlockIndex> younger;
    for (const BlockIndex i : candidates) {
      const std::uint64_t age = large.searches - blocks_[i].searches;
      if (static_cast<double>(age) < average) {
        younger.push_back(i);
        continue;
      }
      total_age -= age;
      reclaimed += blocks_[i].size;
      release_segment(i);
    }
    freed = younger.size() < candidates.size();
    candidates = std::move(younger);
  }
}

// With a limit on splitting: one free block of at least the limit and the request, or as many
// blocks above the limit as add up to that, the largest first. (Expandable segments have no block
// to give back as a whole: PyTorch fails an assertion here.)
bool CachingAllocator::release_oversize(const Request& request) {
  if (settings_.max_split_size == kUnlimited || settings_.expandable_segments) return false;
  const std::int64_t limit = settings_.max_split_size.count;
  const std::int64_t target = request.size < limit ? limit : request.size;
  FreeBlocks& free = pool(request.small).free[static_cast<std::size_t>(request.stream)];
  const auto large_enough = free.first_of_at_least(target);
  if (large_enough != FreeBlocks::end()) {
    release_segment(free[large_enough].block);
    return true;
  }
  std::int64_t released = 0;
  while (released < target) {
    const auto largest = free.last();
    if (largest == FreeBlocks::end() || free[largest].size < limit) return false;
    released += free[largest].size;
    release_segment(free[largest].block);
  }
  return true;
}

void CachingAllocator::empty_cache() { release_cached(); }

void CachingAllocator::release_cached() {
  wait_for_events();
  release_pool(false);
  release_pool(true);
}

void CachingAllocator::release_pool(bool small) {
  std::vector<BlockIndex> whole, growable;
  for (const FreeBlocks& free : pool(small).free) {
    for (auto at = free.begin(); at != FreeBlocks::end(); at = free.next(at)) {
      const BlockIndex i = free[at].block;
      if (blocks_[i].expandable != kOrdinarySegment) {
        growable.push_back(i);
      } else if (!blocks_[i].split()) {
        whole.push_back(i);
      }
    }
  }
  for (const BlockIndex i : whole) release_segment(i);
  for (const BlockIndex i : growable) unmap_block(i);
}

// A new segment, once the cache has been emptied, or the largest cached block.
Bytes CachingAllocator::available() const {
  std::int64_t largest = 0;
  std::int64_t room = driver_.free_memory().count;
  if (allowed_ - reserved_.now < room) room = allowed_ - reserved_.now;
  std::int64_t page = kOwnSegmentRounding;
  for (BlockIndex i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (block.state != BlockState::kFree) continue;
    if (block.size > largest) largest = block.size;
    if (block.expandable != kOrdinarySegment) {
      const ExpandableSegment& segment = expandable_[block.expandable];
      const auto offset = static_cast<std::int64_t>(block.address - segment.address);
      const std::int64_t first = round_up(offset, segment.page);
      const std::int64_t last = (offset + block.size) / segment.page * segment.page;
      if (last > first) room += last - first;
    } else if (!block.split()) {
      room += block.size;
    }
  }
  if (settings_.expandable_segments) page = kLargeSegment;
  room = room > 0 ? room / page * page : 0;
  return Bytes(largest > room ? largest : room);
}

}  // namespace tidemark::sim
