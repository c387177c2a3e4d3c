#include <algorithm>

#include "hardware/ensure.hpp"
#include "sim/allocators/caching.hpp"

namespace tidemark::sim {

MemorySnapshot CachingAllocator::snapshot() const {
  const auto mapped = [&](BlockIndex i) {
    return i != kNoBlock && blocks_[i].state != BlockState::kUnmapped;
  };
  MemorySnapshot segments;
  for (BlockIndex i = 0; i < blocks_.size(); ++i) {
    const Block& head = blocks_[i];
    if (head.state == BlockState::kUnused || !mapped(i) || mapped(head.previous)) continue;
    SnapshotSegment segment;
    segment.address = head.address;
    segment.stream = head.stream;
    segment.small = head.small;
    segment.expandable = head.expandable != kOrdinarySegment;
    for (BlockIndex b = i; mapped(b); b = blocks_[b].next) {
      const Block& block = blocks_[b];
      const SnapshotState state = block.state == BlockState::kAllocated ? SnapshotState::kAllocated
                                  : block.state == BlockState::kPending
                                      ? SnapshotState::kPendingFree
                                      : SnapshotState::kInactive;
      segment.blocks.push_back({block.address, Bytes(block.size), Bytes(block.requested), state});
      segment.size += Bytes(block.size);
    }
    segments.push_back(std::move(segment));
  }
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  return segments;
}

std::optional<std::uint64_t> CachingAllocator::handle_at(std::uint64_t address) const {
  for (BlockIndex i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].state == BlockState::kAllocated && blocks_[i].address == address) return i + 1u;
  }
  return std::nullopt;
}

void CachingAllocator::restore(const MemorySnapshot& start) {
  for (const SnapshotSegment& segment : start) {
    ensure(!segment.expandable, "a start from expandable segments is not modelled");
    driver_.occupy(segment.address, segment.size);
    reserved_.add(segment.size.count);
    BlockIndex previous = kNoBlock;
    std::uint64_t address = segment.address;
    for (const SnapshotBlock& from : segment.blocks) {
      ensure(from.address == address, "the blocks of a segment follow one another");
      address += static_cast<std::uint64_t>(from.size.count);
      Block block;
      block.address = from.address;
      block.size = from.size.count;
      block.requested = from.requested.count;
      block.previous = previous;
      block.stream = segment.stream;
      block.small = segment.small;
      const bool used = from.state != SnapshotState::kInactive;
      block.state = used ? BlockState::kAllocated : BlockState::kFree;
      const BlockIndex i = blocks_.add(block);
      if (previous != kNoBlock) blocks_[previous].next = i;
      previous = i;
      if (!used) {
        insert_free(i);
        if (from.size != segment.size) inactive_split_.add(from.size.count);
        continue;
      }
      allocated_.add(from.size.count);
      active_.add(from.size.count);
      requested_.add(from.requested.count);
    }
    ensure(address == segment.address + static_cast<std::uint64_t>(segment.size.count),
           "the blocks of a segment fill it");
  }
}

}  // namespace tidemark::sim
