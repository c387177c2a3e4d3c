// The search goes through canonical packings alone: every interval lies on the floor or on another
// one, and they are placed in the order of their offsets. Ideas as published for such problems
// (M. Moffitt, MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning, ASPLOS 2023): intervals that share no time, directly or through others, are solved by
// themselves; what is left of a stretch of time has to fit above the lowest that it can still lie
// at; an interval under which another one would fit entirely need not come next. Beside these:
// where no choice of an interval leads on, the search goes back to the last choice that had a part
// in that (Prosser's conflict-directed backjumping), and it begins anew in another order, again and
// again.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/allocators/packing.hpp"
#include "sim/allocators/packing_rank.hpp"

namespace tidemark::sim {
namespace {

constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();

constexpr double kFirstNodes = 2'000;  // of an attempt
constexpr double kMoreNodes = 1.25;    // of the next round of attempts
constexpr double kForgets = 0.98;      // of failures, from one attempt to the next

enum class Outcome : std::uint8_t { kFound, kNone, kGaveUp };

// Choices by their level, which is the number of intervals that were placed before.
class Levels {
 public:
  explicit Levels(std::size_t most) : words_((most + 63) / 64) {}
  void clear() { std::ranges::fill(words_, 0u); }
  void add(std::uint32_t level) { words_[level / 64] |= std::uint64_t{1} << level % 64; }
  void remove(std::uint32_t level) { words_[level / 64] &= ~(std::uint64_t{1} << level % 64); }
  bool has(std::uint32_t level) const { return (words_[level / 64] >> level % 64 & 1u) != 0; }
  void add(const Levels& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<std::uint64_t> words_;
};

// The choice before: others come at higher offsets, or at the same one with a higher rank.
struct Last {
  std::int64_t offset = 0;
  std::uint32_t rank = 0;
  std::uint32_t level = 0;
  bool any = false;
};

class Search {
 public:
  Search(std::span<const Interval> intervals, std::int64_t capacity)
      : intervals_(intervals),
        capacity_(capacity),
        neighbours_(intervals.size()),
        state_(intervals.size()),
        blame_(intervals.size()) {
    make_sections();
    for (std::uint32_t i = 0; i < intervals.size(); ++i) {
      for (std::uint32_t j = 0; j < intervals.size(); ++j) {
        const bool meet =
            intervals[i].lower < intervals[j].upper && intervals[j].lower < intervals[i].upper;
        if (i != j && meet) neighbours_[i].push_back(j);
      }
    }
  }

  // Without `jumps` it is complete: kNone says that there is no packing.
  Outcome run(std::uint32_t attempt, std::int64_t nodes, bool jumps) {
    for (double& failures : failures_) failures *= kForgets;
    ranks_ = ranks_for(attempt, intervals_, spans_, failures_);
    std::ranges::fill(state_, State{});
    trail_.clear();
    placed_.clear();
    left_ = nodes;
    jumps_ = jumps;
    std::vector<std::uint32_t> all(intervals_.size());
    std::iota(all.begin(), all.end(), 0u);
    std::ranges::sort(all, {}, [&](std::uint32_t i) { return std::pair(intervals_[i].lower, i); });
    return solve_parts(all, {});
  }

  std::int64_t left() const { return std::max<std::int64_t>(left_, 0); }

  Packing packing() const {
    Packing found;
    for (std::size_t i = 0; i < state_.size(); ++i) {
      found.offsets.push_back(state_[i].offset);
      found.height = std::max(found.height, state_[i].offset + intervals_[i].size);
    }
    return found;
  }

 private:
  struct State {
    std::int64_t floor = 0;    // lowest offset on top of what is placed
    std::uint32_t below = 0;   // level of the choice that set it, where it is not 0
    std::int64_t offset = -1;  // -1: not placed
  };
  struct Raised {
    std::uint32_t interval;
    std::int64_t floor;
    std::uint32_t below;
  };

  // Moments at which as much may be alive as at no moment near: the last begin before an end.
  void make_sections() {
    std::vector<std::pair<std::int64_t, bool>> changes;  // at one time what ends comes first
    for (const Interval& each : intervals_) {
      changes.emplace_back(each.lower, true);
      changes.emplace_back(each.upper, false);
    }
    std::ranges::sort(changes);
    std::vector<std::int64_t> moments;
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
      if (changes[i].second && !changes[i + 1].second) moments.push_back(changes[i].first);
    }
    const auto at = [&](std::int64_t time) {
      return static_cast<std::uint32_t>(std::ranges::lower_bound(moments, time) - moments.begin());
    };
    for (const Interval& each : intervals_) spans_.emplace_back(at(each.lower), at(each.upper));
    sum_.assign(moments.size(), 0);
    failures_.assign(moments.size(), 0);
  }

  // `set` is in the order of time: parts that share none are solved one after the other.
  Outcome solve_parts(const std::vector<std::uint32_t>& set, const Last& last) {
    std::vector<std::vector<std::uint32_t>> parts;
    for (std::size_t begin = 0; begin < set.size();) {
      std::size_t end = begin;
      std::int64_t until = std::numeric_limits<std::int64_t>::min();
      for (; end < set.size() && (end == begin || intervals_[set[end]].lower < until); ++end) {
        until = std::max(until, intervals_[set[end]].upper);
      }
      parts.emplace_back(set.begin() + static_cast<std::ptrdiff_t>(begin),
                         set.begin() + static_cast<std::ptrdiff_t>(end));
      if (!promises(parts.back(), last)) return Outcome::kNone;
      begin = end;
    }
    for (const auto& part : parts) {
      const Outcome outcome = solve(part, last);
      if (outcome != Outcome::kFound) return outcome;
    }
    return Outcome::kFound;
  }

  // It can only come later if something else lifts it.
  bool had_its_turn(std::uint32_t i, const Last& last) const {
    const std::int64_t floor = state_[i].floor;
    return floor < last.offset || (floor == last.offset && ranks_[i] < last.rank);
  }

  // Where what has had its turn can still lie: on something that is yet to be placed.
  std::int64_t lifted(std::uint32_t i, const Last& last) const {
    std::int64_t lowest = kNowhere;
    for (const std::uint32_t other : neighbours_[i]) {
      if (state_[other].offset >= 0) continue;
      lowest =
          std::min(lowest, std::max(state_[other].floor, last.offset) + intervals_[other].size);
    }
    return lowest;
  }

  // Whether in every section, above every offset, what can only lie there fits below the capacity.
  // If not, the choices that had a part in that are in blame_.
  bool promises(const std::vector<std::uint32_t>& part, const Last& last) {
    lowest_.clear();
    for (const std::uint32_t i : part) {
      const std::int64_t from = had_its_turn(i, last) ? lifted(i, last) : state_[i].floor;
      lowest_.emplace_back(from, i);
      std::fill(sum_.begin() + spans_[i].first, sum_.begin() + spans_[i].second, 0);
    }
    std::ranges::sort(lowest_, std::greater());
    for (std::size_t k = 0; k < lowest_.size(); ++k) {
      const auto& [from, i] = lowest_[k];
      for (std::uint32_t s = spans_[i].first; s < spans_[i].second; ++s) {
        sum_[s] += intervals_[i].size;
        if (from <= capacity_ - sum_[s]) continue;
        ++failures_[s];
        blame_.clear();
        for (std::size_t other = 0; other <= k; ++other) {
          const SectionSpan& span = spans_[lowest_[other].second];
          if (span.first <= s && s < span.second) blame(lowest_[other].second, last);
        }
        return false;
      }
    }
    return true;
  }

  // Adds the choices that keep `i` from lying lower.
  void blame(std::uint32_t i, const Last& last) {
    if (!had_its_turn(i, last)) {
      if (state_[i].floor > 0) blame_.add(state_[i].below);
      return;
    }
    if (last.any) blame_.add(last.level);
    for (const std::uint32_t other : neighbours_[i]) {
      if (state_[other].floor > last.offset) blame_.add(state_[other].below);
    }
  }

  Outcome solve(const std::vector<std::uint32_t>& part, const Last& last) {
    std::int64_t ceiling = kNowhere;  // below it one of them fits entirely
    std::vector<std::uint32_t> candidates;
    for (const std::uint32_t i : part) {
      if (had_its_turn(i, last)) continue;
      ceiling = std::min(ceiling, state_[i].floor + intervals_[i].size);
      candidates.push_back(i);
    }
    Levels all_blame(intervals_.size());
    if (last.any && candidates.size() < part.size()) all_blame.add(last.level);
    std::erase_if(candidates, [&](std::uint32_t i) { return state_[i].floor >= ceiling; });
    std::ranges::sort(candidates, {},
                      [&](std::uint32_t i) { return std::pair(state_[i].floor, ranks_[i]); });
    for (const std::uint32_t i : candidates) {
      if (--left_ < 0) return Outcome::kGaveUp;
      const std::size_t mark = trail_.size(), level = placed_.size();
      const Last here{state_[i].floor, ranks_[i], static_cast<std::uint32_t>(level), true};
      place(i, here);
      std::vector<std::uint32_t> rest;
      rest.reserve(part.size() - 1);
      for (const std::uint32_t other : part) {
        if (other != i) rest.push_back(other);
      }
      const Outcome outcome = solve_parts(rest, here);
      if (outcome != Outcome::kNone) return outcome;
      undo(mark, level);
      if (jumps_ && !blame_.has(here.level)) return Outcome::kNone;  // any other fails likewise
      blame_.remove(here.level);
      all_blame.add(blame_);
    }
    blame_ = all_blame;
    return Outcome::kNone;
  }

  void place(std::uint32_t i, const Last& here) {
    state_[i].offset = here.offset;
    placed_.push_back(i);
    const std::int64_t top = here.offset + intervals_[i].size;
    for (const std::uint32_t other : neighbours_[i]) {
      State& raised = state_[other];
      if (raised.offset >= 0 || raised.floor >= top) continue;
      trail_.push_back({other, raised.floor, raised.below});
      raised.floor = top;
      raised.below = here.level;
    }
  }

  // Other parts may have been solved on the way.
  void undo(std::size_t mark, std::size_t placed) {
    for (; placed_.size() > placed; placed_.pop_back()) state_[placed_.back()].offset = -1;
    for (; trail_.size() > mark; trail_.pop_back()) {
      state_[trail_.back().interval].floor = trail_.back().floor;
      state_[trail_.back().interval].below = trail_.back().below;
    }
  }

  std::span<const Interval> intervals_;
  std::int64_t capacity_;
  std::vector<std::vector<std::uint32_t>> neighbours_;  // alive at the same time
  std::vector<SectionSpan> spans_;
  std::vector<std::uint32_t> ranks_;
  std::vector<State> state_;
  std::vector<Raised> trail_;  // as it was
  std::vector<std::uint32_t> placed_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> lowest_;  // see promises()
  std::vector<std::int64_t> sum_;                               // of sections, see promises()
  std::vector<double> failures_;                                // of sections, of late more
  Levels blame_;
  std::int64_t left_ = 0;
  bool jumps_ = true;
};

}  // namespace

std::optional<Packing> pack_within(std::span<const Interval> intervals, std::int64_t capacity,
                                   std::int64_t nodes, bool* exhausted) {
  if (exhausted != nullptr) *exhausted = false;
  Search search(intervals, capacity);
  double most = kFirstNodes;
  for (std::uint32_t attempt = 0; nodes > 0; ++attempt) {
    // Where jumps have left nothing out, a search without them says whether that is so.
    for (const bool jumps : {true, false}) {
      const std::int64_t allowed = std::min(static_cast<std::int64_t>(most), nodes);
      const Outcome outcome = search.run(attempt, allowed, jumps);
      nodes -= std::max<std::int64_t>(1, allowed - search.left());
      if (outcome == Outcome::kFound) return search.packing();
      if (outcome == Outcome::kGaveUp) break;
      if (jumps) continue;
      if (exhausted != nullptr) *exhausted = true;
      return std::nullopt;
    }
    if (attempt % kAttemptsARound + 1 == kAttemptsARound) most *= kMoreNodes;
  }
  return std::nullopt;
}

}  // namespace tidemark::sim
