// Expandable segments: one reservation of address space per stream and pool, filled with pages.
//
//   reserved  [ used | free | used ......................... unmapped .........................]
//   request   larger than the free block: pages are mapped behind the last block until it fits
//   release   the whole pages within each free block are unmapped, wherever they lie

#include <algorithm>

#include "hardware/ensure.hpp"
#include "sim/allocators/caching.hpp"
#include "sim/allocators/caching_rounding.hpp"

namespace tidemark::sim {

void CachingAllocator::insert_unmapped(BlockIndex i) {
  auto& list = unmapped_list(blocks_[i]);
  const auto before = [&](BlockIndex a, BlockIndex b) {
    return blocks_[a].address < blocks_[b].address;
  };
  list.insert(std::lower_bound(list.begin(), list.end(), i, before), i);
}

void CachingAllocator::erase_unmapped(BlockIndex i) {
  auto& list = unmapped_list(blocks_[i]);
  const auto at = std::find(list.begin(), list.end(), i);
  ensure(at != list.end(), "an unmapped block is listed");
  list.erase(at);
}

std::int64_t CachingAllocator::expandable_size(BlockIndex i) const {
  const Block& block = blocks_[i];
  const bool grows = block.next != kNoBlock && blocks_[block.next].state == BlockState::kUnmapped;
  return block.size + (grows ? blocks_[block.next].size : 0);
}

// The lowest free or unmapped block from which on there is enough free or unmapped space. It is
// unmapped itself, or free with unmapped space behind it.
BlockIndex CachingAllocator::find_expandable(const Request& request) {
  const auto usable = [&](BlockIndex i) {
    return i != kNoBlock &&
           (blocks_[i].state == BlockState::kFree || blocks_[i].state == BlockState::kUnmapped);
  };
  CachingPool& from = pool(request.small);
  for (const BlockIndex unmapped : from.unmapped[static_cast<std::size_t>(request.stream)]) {
    const BlockIndex before = blocks_[unmapped].previous;
    const BlockIndex first = usable(before) ? before : unmapped;
    std::int64_t room = 0;
    for (BlockIndex i = first; room < request.size && usable(i); i = blocks_[i].next) {
      room += blocks_[i].size;
    }
    if (room >= request.size) return first;
  }
  // An eighth more than the device's memory, so that pages from the front can be used at the end.
  ExpandableSegment segment;
  segment.page = request.small ? kSmallSegment : kLargeSegment;
  segment.size = round_up(device_memory_ + device_memory_ / 8, segment.page);
  segment.address = driver_.reserve(Bytes(segment.size));
  Block block;
  block.address = segment.address;
  block.size = segment.size;
  block.stream = request.stream;
  block.small = request.small;
  block.state = BlockState::kUnmapped;
  block.expandable = static_cast<std::uint32_t>(expandable_.size());
  expandable_.push_back(segment);
  const BlockIndex i = blocks_.add(block);
  insert_unmapped(i);
  return i;
}

// Maps whole pages from the start of an unmapped block until at least `size` bytes are there.
bool CachingAllocator::map_block(BlockIndex i, std::int64_t size) {
  const ExpandableSegment& segment = expandable_[blocks_[i].expandable];
  const std::int64_t bytes = round_up(size, segment.page);
  if (!driver_.map(bytes / segment.page, Bytes(segment.page))) return false;
  erase_unmapped(i);
  const std::uint64_t address = blocks_[i].address;
  if (bytes < blocks_[i].size) {
    const BlockIndex rest =
        add_piece(i, address + static_cast<std::uint64_t>(bytes), blocks_[i].size - bytes);
    Block& block = blocks_[i];
    block.size = bytes;
    blocks_[rest].state = BlockState::kUnmapped;
    blocks_[rest].previous = i;
    blocks_[rest].next = block.next;
    if (block.next != kNoBlock) blocks_[block.next].previous = rest;
    block.next = rest;
    insert_unmapped(rest);
  }
  blocks_[i].state = BlockState::kFree;
  merge(i, blocks_[i].previous);
  merge(i, blocks_[i].next);
  insert_free(i);
  reserved_.add(bytes);
  ++counts_.driver_allocations;
  record(MemoryAction::kSegmentMap, address, bytes, blocks_[i].stream);
  return true;
}

// What has been mapped when a later page cannot be stays mapped, as a free block.
BlockIndex CachingAllocator::take_expandable(const Request& request) {
  BlockIndex found = find_expandable(request);
  if (blocks_[found].state == BlockState::kUnmapped &&
      !map_block(found, std::min(blocks_[found].size, request.size))) {
    return kNoBlock;
  }
  while (blocks_[found].size < request.size) {
    const BlockIndex next = blocks_[found].next;
    const std::int64_t missing = request.size - blocks_[found].size;
    if (!map_block(next, std::min(blocks_[next].size, missing))) return kNoBlock;
    found = next;  // it has taken in what was before it
  }
  free_list(blocks_[found]).erase(blocks_[found].size, blocks_[found].address);
  return found;
}

// A new row for a part of block `of`, not yet linked.
BlockIndex CachingAllocator::add_piece(BlockIndex of, std::uint64_t address, std::int64_t size) {
  Block piece;
  piece.address = address;
  piece.size = size;
  piece.stream = blocks_[of].stream;
  piece.small = blocks_[of].small;
  piece.expandable = blocks_[of].expandable;
  return blocks_.add(piece);
}

// Unmaps the whole pages within a free block; what is left of it at either end stays free.
void CachingAllocator::unmap_block(BlockIndex i) {
  const ExpandableSegment segment = expandable_[blocks_[i].expandable];
  const Block old = blocks_[i];
  const auto offset = static_cast<std::int64_t>(old.address - segment.address);
  const std::int64_t first = round_up(offset, segment.page);
  const std::int64_t last = (offset + old.size) / segment.page * segment.page;
  if (last <= first) return;
  driver_.unmap((last - first) / segment.page, Bytes(segment.page));
  free_list(old).erase(old.size, old.address);
  if (first > offset) {
    const BlockIndex before = add_piece(i, old.address, first - offset);
    blocks_[before].previous = old.previous;
    blocks_[before].next = i;
    if (old.previous != kNoBlock) blocks_[old.previous].next = before;
    blocks_[i].previous = before;
    insert_free(before);
  }
  if (offset + old.size > last) {
    const BlockIndex after =
        add_piece(i, segment.address + static_cast<std::uint64_t>(last), offset + old.size - last);
    blocks_[after].previous = i;
    blocks_[after].next = old.next;
    if (old.next != kNoBlock) blocks_[old.next].previous = after;
    blocks_[i].next = after;
    insert_free(after);
  }
  const std::uint64_t address = segment.address + static_cast<std::uint64_t>(first);
  blocks_[i].address = address;
  blocks_[i].size = last - first;
  blocks_[i].state = BlockState::kUnmapped;
  merge(i, blocks_[i].previous);
  merge(i, blocks_[i].next);
  insert_unmapped(i);
  reserved_.add(-(last - first));
  ++counts_.driver_frees;
  record(MemoryAction::kSegmentUnmap, address, last - first, old.stream);
  if (!blocks_[i].split()) release_reservation(i);
}

void CachingAllocator::release_reservation(BlockIndex i) {
  ExpandableSegment& segment = expandable_[blocks_[i].expandable];
  ensure(blocks_[i].size == segment.size, "an expandable segment is released as a whole");
  erase_unmapped(i);
  driver_.release(segment.address);
  segment.size = 0;
  blocks_.remove(i);
}

}  // namespace tidemark::sim
