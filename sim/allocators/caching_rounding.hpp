#pragma once
// How PyTorch's CUDA caching allocator rounds: a request to a block, a missing block to a segment.
// Constants and rules: c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h of
// PyTorch 2.
//
//   request        1 B    512 B   513 B   1 MiB   1 MiB + 1 B      9.9 MiB   10 MiB   31 MiB
//   block          512 B  512 B   1 KiB   1 MiB   1 MiB + 512 B    9.9 MiB   10 MiB   31 MiB
//   pool           small  small   small   small   large            large     large    large
//   segment        2 MiB  2 MiB   2 MiB   2 MiB   20 MiB           20 MiB    10 MiB   32 MiB

#include <bit>
#include <cstdint>

#include "sim/allocators/caching_settings.hpp"

namespace tidemark::sim {

inline constexpr std::int64_t kMinimumBlock = 512;          // kMinBlockSize
inline constexpr std::int64_t kSmallLimit = 1 << 20;        // kSmallSize: the small pool's largest
inline constexpr std::int64_t kSmallSegment = 2 << 20;      // kSmallBuffer
inline constexpr std::int64_t kLargeSegment = 20 << 20;     // kLargeBuffer
inline constexpr std::int64_t kOwnSegmentLimit = 10 << 20;  // kMinLargeAlloc
inline constexpr std::int64_t kOwnSegmentRounding = 2 << 20;  // kRoundLarge

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// Index of the roundup_power2_divisions interval that holds `bytes`: [1 MiB, 2 MiB) is 0 (so is
// everything below), [32 GiB, infinity) is 15.
constexpr int division_interval(std::int64_t bytes) {
  const int log2 = 63 - std::countl_zero(static_cast<std::uint64_t>(bytes));
  return log2 < 20 ? 0 : log2 > 35 ? 15 : log2 - 20;
}

// The block that a request of `bytes` > 0 needs: a multiple of 512.
constexpr std::int64_t block_size(std::int64_t bytes, const CachingSettings& settings) {
  if (bytes < kMinimumBlock) return kMinimumBlock;
  const std::int64_t divisions =
      settings.roundup_power2_divisions[static_cast<std::size_t>(division_interval(bytes))];
  if (divisions > 1 && bytes > kMinimumBlock * divisions) {
    const auto floor = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
    return round_up(bytes, floor / divisions);  // a power of two stays what it is
  }
  return round_up(bytes, kMinimumBlock);
}

constexpr bool in_small_pool(std::int64_t block) { return block <= kSmallLimit; }

// What the driver is asked for when no cached block serves a block of `block` bytes.
constexpr std::int64_t segment_size(std::int64_t block) {
  if (in_small_pool(block)) return kSmallSegment;
  if (block < kOwnSegmentLimit) return kLargeSegment;
  return round_up(block, kOwnSegmentRounding);
}

}  // namespace tidemark::sim
