#include "sim/allocators/packing.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tidemark::sim {
namespace {

bool share_time(const Interval& a, const Interval& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

// Indices, those with the largest key first, equals as they come.
template <class Key>
std::vector<std::uint32_t> largest_first(std::size_t count, Key key) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater(), key);
  return order;
}

std::vector<std::uint32_t> order_of(std::span<const Interval> intervals, Greedy rule) {
  return largest_first(intervals.size(), [&](std::uint32_t i) {
    const Interval& each = intervals[i];
    const std::int64_t length = each.upper - each.lower;
    switch (rule) {
      case Greedy::kBySize:
        return std::pair(static_cast<double>(each.size), static_cast<double>(length));
      case Greedy::kByArea:
        return std::pair(static_cast<double>(each.size) * static_cast<double>(length),
                         static_cast<double>(each.size));
      case Greedy::kByTime:
      case Greedy::kBestFit:
        break;
    }
    return std::pair(static_cast<double>(length), static_cast<double>(each.size));
  });
}

// Each at the lowest offset that is free for all of its time.
Packing place_in_order(std::span<const Interval> intervals,
                       const std::vector<std::uint32_t>& order) {
  Packing packing{std::vector<std::int64_t>(intervals.size()), 0};
  std::vector<std::pair<std::int64_t, std::uint32_t>> placed;  // by offset
  for (const std::uint32_t i : order) {
    if (intervals[i].size == 0) continue;
    std::int64_t at = 0;
    for (const auto& [offset, other] : placed) {
      if (offset - at >= intervals[i].size) break;  // none that follows begins lower
      if (!share_time(intervals[i], intervals[other])) continue;
      at = std::max(at, offset + intervals[other].size);
    }
    packing.offsets[i] = at;
    packing.height = std::max(packing.height, at + intervals[i].size);
    const std::pair entry(at, i);
    placed.insert(std::ranges::upper_bound(placed, entry), entry);
  }
  return packing;
}

// As an allocator that learns of each as it begins.
Packing place_in_time(std::span<const Interval> intervals) {
  Packing packing{std::vector<std::int64_t>(intervals.size()), 0};
  std::vector<std::uint32_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return intervals[i].lower; });
  std::vector<std::pair<std::int64_t, std::uint32_t>> alive;  // by offset
  for (const std::uint32_t i : order) {
    const Interval& each = intervals[i];
    if (each.size == 0) continue;
    std::erase_if(alive,
                  [&](const auto& entry) { return intervals[entry.second].upper <= each.lower; });
    std::int64_t below = 0, best = -1, smallest = 0;
    for (const auto& [offset, other] : alive) {
      const std::int64_t gap = offset - below;
      if (gap >= each.size && (best < 0 || gap < smallest)) {
        best = below;
        smallest = gap;
      }
      below = std::max(below, offset + intervals[other].size);
    }
    packing.offsets[i] = best >= 0 ? best : below;
    packing.height = std::max(packing.height, packing.offsets[i] + each.size);
    const std::pair entry(packing.offsets[i], i);
    alive.insert(std::ranges::upper_bound(alive, entry), entry);
  }
  return packing;
}

// What lives all the time lies at the bottom of some lowest packing: nothing can use its bytes.
struct Split {
  std::vector<Interval> others;
  std::vector<std::uint32_t> index;  // of the others
  Packing base;
};

Split split_off_permanent(std::span<const Interval> intervals) {
  Split split{{}, {}, {std::vector<std::int64_t>(intervals.size()), 0}};
  if (intervals.empty()) return split;
  std::int64_t first = intervals[0].lower, last = intervals[0].upper;
  for (const Interval& each : intervals) {
    first = std::min(first, each.lower);
    last = std::max(last, each.upper);
  }
  for (std::uint32_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].lower == first && intervals[i].upper == last) {
      split.base.offsets[i] = split.base.height;
      split.base.height += intervals[i].size;
    } else if (intervals[i].size > 0) {  // nothing may lie anywhere
      split.others.push_back(intervals[i]);
      split.index.push_back(i);
    }
  }
  return split;
}

Packing joined(const Split& split, const Packing& others) {
  Packing packing = split.base;
  for (std::size_t i = 0; i < split.index.size(); ++i) {
    packing.offsets[split.index[i]] = split.base.height + others.offsets[i];
  }
  packing.height += others.height;
  return packing;
}

}  // namespace

std::int64_t live_bound(std::span<const Interval> intervals) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;
  for (const Interval& each : intervals) {
    changes.emplace_back(each.lower, each.size);
    changes.emplace_back(each.upper, -each.size);
  }
  std::ranges::sort(changes);  // at one time what ends comes first
  std::int64_t alive = 0, most = 0;
  for (const auto& [time, change] : changes) {
    alive += change;
    most = std::max(most, alive);
  }
  return most;
}

Packing pack_greedily(std::span<const Interval> intervals, Greedy rule) {
  if (rule == Greedy::kBestFit) return place_in_time(intervals);
  return place_in_order(intervals, order_of(intervals, rule));
}

PackingChoice pack(std::span<const Interval> intervals, std::int64_t nodes,
                   std::size_t most_searched) {
  const Split split = split_off_permanent(intervals);
  const std::int64_t bound = live_bound(split.others);
  PackingChoice choice;
  choice.bound = split.base.height + bound;
  Packing best;
  for (int rule = 0; rule < kGreedyCount; ++rule) {
    if (rule > 0 && best.height <= bound) break;
    Packing packing = pack_greedily(split.others, static_cast<Greedy>(rule));
    if (rule > 0 && packing.height >= best.height) continue;
    best = std::move(packing);
    choice.rule = kGreedyNames[static_cast<std::size_t>(rule)];
  }
  choice.greedy = split.base.height + best.height;
  // `low` is not reached by a packing that the search knows, or has not been asked for.
  std::int64_t low = bound;
  while (best.height > low && nodes > 0 && split.others.size() <= most_searched) {
    // The bound itself first: more often than not it can be reached.
    const std::int64_t wanted = low == bound ? bound : low + (best.height - low) / 2;
    const std::int64_t spent = nodes / 2;
    nodes -= std::max<std::int64_t>(spent, 1);
    if (std::optional<Packing> found = pack_within(split.others, wanted, spent)) {
      best = std::move(*found);
      choice.rule = "search";
    } else {
      low = wanted + 1;
    }
  }
  choice.packing = joined(split, best);
  return choice;
}

}  // namespace tidemark::sim
