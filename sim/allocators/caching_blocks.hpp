#pragma once
// Blocks of the caching allocator. A segment is a list of neighbouring blocks, joined by address:
//
//   segment of 20 MiB, after 3 MiB were handed out:
//     [ block 1: 3 MiB, allocated ] <-> [ block 0: 17 MiB, free ]
//
// No two neighbours are ever both free: they merge when the second is freed.

#include <cstdint>
#include <vector>

#include "graph/program.hpp"
#include "hardware/ensure.hpp"

namespace tidemark::sim {

using BlockIndex = std::uint32_t;
inline constexpr BlockIndex kNoBlock = 0xffffffffu;
inline constexpr std::uint32_t kOrdinarySegment = 0xffffffffu;

enum class BlockState : std::uint8_t {
  kUnused,  // no block: the row waits for its next use
  kFree,    // in a free list
  kAllocated,
  kPending,   // freed, but an event of another stream has not completed
  kUnmapped,  // address space of an expandable segment without memory
};

struct Block {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::int64_t requested = 0;      // of the last request that it served; stays when it is freed
  std::uint64_t searches = 0;      // of the pool when this block entered the free list
  BlockIndex previous = kNoBlock;  // lower neighbour in the segment
  BlockIndex next = kNoBlock;
  std::uint32_t expandable = kOrdinarySegment;  // or which expandable segment it is part of
  std::uint16_t pending_events = 0;
  std::uint8_t used_on = 0;  // bit s: stream s was recorded
  Stream stream{};
  BlockState state = BlockState::kUnused;
  bool small = false;  // of the small pool

  bool split() const { return previous != kNoBlock || next != kNoBlock; }
};

// Rows that keep their index while a block lives, and are used again afterwards.
class BlockTable {
 public:
  Block& operator[](BlockIndex i) { return rows_[i]; }
  const Block& operator[](BlockIndex i) const { return rows_[i]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(rows_.size()); }

  BlockIndex add(const Block& block) {
    if (spare_.empty()) {
      rows_.push_back(block);
      return size() - 1;
    }
    const BlockIndex i = spare_.back();
    spare_.pop_back();
    rows_[i] = block;
    return i;
  }
  void remove(BlockIndex i) {
    rows_[i].state = BlockState::kUnused;
    spare_.push_back(i);
  }

 private:
  std::vector<Block> rows_;
  std::vector<BlockIndex> spare_;
};

}  // namespace tidemark::sim
