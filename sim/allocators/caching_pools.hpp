#pragma once
// The free blocks of one stream in one pool, in PyTorch's order: size, then address.
//
// Kept as short sorted arrays, one per quarter of a power of two, so that a search, an insertion
// and a removal touch a few cache lines even when there are thousands of free blocks:
//
//   sizes       512..639  640..767  ...   1 MiB..1.25 MiB   ...
//   free lists  [512 @a]  []        ...   [1 MiB @b, 1 MiB @c, 1.1 MiB @d]

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "graph/program.hpp"
#include "sim/allocators/caching_blocks.hpp"

namespace tidemark::sim {

class FreeBlocks {
 public:
  struct Entry {
    std::int64_t size;
    std::uint64_t address;
    BlockIndex block;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.size != b.size ? a.size < b.size : a.address < b.address;
    }
  };
  struct Position {
    std::uint32_t list = kLists;  // kLists: past the last block
    std::uint32_t offset = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };

  void insert(const Entry& entry) {
    const std::uint32_t list = list_of(entry.size);
    std::vector<Entry>& entries = lists_[list];
    entries.insert(std::lower_bound(entries.begin(), entries.end(), entry), entry);
    filled_[list / 64] |= std::uint64_t{1} << (list % 64);
  }
  void erase(std::int64_t size, std::uint64_t address) {
    const std::uint32_t list = list_of(size);
    const auto& entries = lists_[list];
    const auto at = std::lower_bound(entries.begin(), entries.end(), Entry{size, address, 0});
    erase(Position{list, static_cast<std::uint32_t>(at - entries.begin())});
  }
  void erase(Position at) {
    std::vector<Entry>& entries = lists_[at.list];
    entries.erase(entries.begin() + at.offset);
    if (entries.empty()) filled_[at.list / 64] &= ~(std::uint64_t{1} << (at.list % 64));
  }

  // The smallest free block of at least `size` bytes, the lowest of them by address.
  Position first_of_at_least(std::int64_t size) const {
    const std::uint32_t list = list_of(size);
    const auto& entries = lists_[list];
    const auto at = std::lower_bound(entries.begin(), entries.end(), Entry{size, 0, 0});
    if (at != entries.end()) return {list, static_cast<std::uint32_t>(at - entries.begin())};
    return first_list_from(list + 1);
  }
  Position begin() const { return first_list_from(0); }
  static Position end() { return {}; }
  Position next(Position at) const {
    if (at.offset + 1 < lists_[at.list].size()) return {at.list, at.offset + 1};
    return first_list_from(at.list + 1);
  }
  Position last() const {
    for (std::uint32_t list = kLists; list-- > 0;) {
      if (!lists_[list].empty()) return {list, static_cast<std::uint32_t>(lists_[list].size() - 1)};
    }
    return end();
  }
  const Entry& operator[](Position at) const { return lists_[at.list][at.offset]; }

 private:
  static constexpr std::uint32_t kWords = 4;
  static constexpr std::uint32_t kLists = kWords * 64;  // sizes up to 2^63

  static std::uint32_t list_of(std::int64_t size) {
    const auto bytes = static_cast<std::uint64_t>(size);
    const int log2 = 63 - std::countl_zero(bytes);  // at least 9: blocks are multiples of 512
    const auto quarter = static_cast<std::uint32_t>(bytes >> (log2 - 2)) & 3u;
    return static_cast<std::uint32_t>(log2) * 4 + quarter;
  }
  Position first_list_from(std::uint32_t list) const {
    if (list >= kLists) return end();
    std::uint32_t word = list / 64;
    std::uint64_t bits = filled_[word] & (~std::uint64_t{0} << (list % 64));
    while (bits == 0) {
      if (++word == kWords) return end();
      bits = filled_[word];
    }
    return {word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)), 0};
  }

  std::array<std::vector<Entry>, kLists> lists_;
  std::array<std::uint64_t, kWords> filled_{};
};

// The small or the large pool: what is free and what is unmapped, per stream.
struct CachingPool {
  std::array<FreeBlocks, kStreamCount> free;
  std::array<std::vector<BlockIndex>, kStreamCount> unmapped;  // by address
  std::uint64_t searches = 0;  // counted only while garbage collection is on
};

}  // namespace tidemark::sim
