#pragma once
// Static placement: offsets for intervals of time that need bytes, none of which may share a byte
// with another at the same time (dynamic storage allocation, which is NP-complete). Pure
// functions: no allocator, no program.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark::sim {

// Needs `size` bytes, not negative, from `lower` until just before `upper`, which is later.
struct Interval {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t size = 0;
};

struct Packing {
  std::vector<std::int64_t> offsets;  // one an interval, in their order, not negative
  std::int64_t height = 0;            // largest offset + size
};

// The largest sum of sizes at one time: no packing is lower.
std::int64_t live_bound(std::span<const Interval> intervals);

// Heuristics. kBySize, kByArea (size x time) and kByTime place one interval after the other, the
// largest first, each at the lowest offset that is free for all of its time. kBestFit goes through
// time, as an allocator does, and takes the smallest gap that is large enough.
enum class Greedy : std::uint8_t { kBySize, kByArea, kByTime, kBestFit };
inline constexpr int kGreedyCount = 4;
inline constexpr std::string_view kGreedyNames[kGreedyCount] = {"by size", "by area", "by time",
                                                                "best fit"};
Packing pack_greedily(std::span<const Interval> intervals, Greedy rule);

// All sizes are above 0. Searches for a packing of at most `capacity`, for at most `nodes` placements. Nothing: there is
// none, or it was not found (`exhausted`, where it is given, says which). Deterministic.
std::optional<Packing> pack_within(std::span<const Interval> intervals, std::int64_t capacity,
                                   std::int64_t nodes, bool* exhausted = nullptr);

struct PackingChoice {
  Packing packing;
  std::int64_t bound = 0;   // live_bound()
  std::int64_t greedy = 0;  // height of the best heuristic
  std::string_view rule;    // which of kGreedyNames, or "search"
};

// The lowest of the heuristics; where that is above the bound and the intervals are no more than
// `most_searched`, the search, which tries to halve what lies between until `nodes` are used up.
PackingChoice pack(std::span<const Interval> intervals, std::int64_t nodes,
                   std::size_t most_searched);

}  // namespace tidemark::sim
