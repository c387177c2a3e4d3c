#include "graph/remat/front.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace tidemark::remat {

namespace {

using Mask = std::uint64_t;
constexpr std::size_t kMaskBits = 64;

class Enumeration {
 public:
  explicit Enumeration(const KeepProblem& what)
      : what_(what), choice_(what.problem->tensor_count(), Choice::kKept) {
    std::vector<char> needed(what.problem->tensor_count(), 0);
    for (const TensorIndex tensor : what.needed) needed[tensor] = 1;
    for (const OpIndex op : what.ops) {
      for (const TensorIndex tensor : what.problem->outputs(op)) {
        const bool small = what.problem->tensor(tensor).bytes == 0;
        if (what.held[tensor] == Held::kFree || small) continue;
        made_.push_back(tensor);
        if (!what.may_run_again(op)) {
          choice_[tensor] = Choice::kIfNeeded;
        } else {
          choice_[tensor] =
              needed[tensor] == 0 && replaceable(tensor) ? Choice::kAgain : Choice::kOpen;
        }
      }
    }
  }

  std::size_t open() const {
    return static_cast<std::size_t>(std::count(choice_.begin(), choice_.end(), Choice::kOpen));
  }

  // Opens those tensors alone on which the sets disagree; the others as in the first.
  void open_where_different(const std::vector<KeepSet>& sets) {
    std::vector<std::size_t> times(what_.problem->tensor_count(), 0);
    for (const KeepSet& set : sets) {
      for (const TensorIndex tensor : set.kept) ++times[tensor];
    }
    for (const TensorIndex tensor : made_) {
      if (choice_[tensor] != Choice::kOpen) continue;
      if (times[tensor] == 0) choice_[tensor] = Choice::kAgain;
      if (times[tensor] == sets.size()) choice_[tensor] = Choice::kKept;
    }
  }

  // Nothing where the tensors are too many for a mask.
  std::vector<KeepSet> sets() {
    if (!number()) return {};
    std::vector<Point> points;
    points.reserve(std::size_t{1} << open_.size());
    for (Mask mask = 0; mask < Mask{1} << open_.size(); ++mask) {
      points.push_back(point_of(mask));
    }
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.cost < b.cost;
    });
    std::vector<KeepSet> result;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Point& point : points) {
      if (point.cost >= least) continue;
      least = point.cost;
      result.push_back(evaluate(what_, tensors_of(point.mask)));
    }
    return result;
  }

 private:
  enum class Choice : char { kKept, kIfNeeded, kAgain, kOpen };

  struct Point {
    std::int64_t bytes, cost;
    Mask mask;
  };

  struct Run {
    Mask made = 0, read = 0;
    std::int64_t cost = 0;
  };

  // Whether keeping what the only reader makes is at least as good.
  bool replaceable(TensorIndex tensor) const {
    const OpIndex* reader = nullptr;
    for (const OpIndex& op : what_.ops) {
      const auto inputs = what_.problem->inputs(op);
      if (std::find(inputs.begin(), inputs.end(), tensor) == inputs.end()) continue;
      if (reader != nullptr) return false;
      reader = &op;
    }
    if (reader == nullptr) return true;
    std::int64_t bytes = 0;
    for (const TensorIndex made : what_.problem->outputs(*reader)) {
      if (what_.held[made] != Held::kFree) bytes += what_.problem->tensor(made).bytes;
    }
    return bytes <= what_.problem->tensor(tensor).bytes;
  }

  // Open tensors get the low bits, those that always run again the next ones, then those that may
  // not. False where the bits do not do.
  bool number() {
    std::vector<std::uint32_t> bit(what_.problem->tensor_count(), kNone);
    open_.clear();
    std::uint32_t next = 0;
    once_ = 0;
    bit_bytes_.clear();
    for (const Choice choice : {Choice::kOpen, Choice::kAgain, Choice::kIfNeeded}) {
      for (const TensorIndex tensor : made_) {
        if (choice_[tensor] != choice) continue;
        if (next == kMaskBits) return false;
        if (choice == Choice::kOpen) open_.push_back(tensor);
        if (choice == Choice::kIfNeeded) once_ |= Mask{1} << next;
        bit_bytes_.push_back(what_.problem->tensor(tensor).bytes);
        bit[tensor] = next++;
      }
    }
    const auto mask = [&](std::span<const TensorIndex> tensors) {
      Mask result = 0;
      for (const TensorIndex tensor : tensors) {
        if (bit[tensor] != kNone) result |= Mask{1} << bit[tensor];
      }
      return result;
    };
    needed_ = mask(what_.needed);
    runs_.clear();
    for (std::size_t i = what_.ops.size(); i-- > 0;) {
      const OpIndex op = what_.ops[i];
      const Mask made = mask(what_.problem->outputs(op));
      if (made != 0)
        runs_.push_back({made, mask(what_.problem->inputs(op)), what_.problem->op(op).cost});
    }
    return true;
  }

  std::int64_t bytes_of(Mask mask) const {
    std::int64_t bytes = 0;
    for (; mask != 0; mask &= mask - 1) {
      bytes += bit_bytes_[static_cast<std::size_t>(std::countr_zero(mask))];
    }
    return bytes;
  }

  Point point_of(Mask kept) const {
    Mask needed = needed_;
    std::int64_t cost = 0;
    for (const Run& run : runs_) {
      if ((needed & ~(kept | once_) & run.made) == 0) continue;
      cost += run.cost;
      needed |= run.read;
    }
    return {bytes_of(kept | (needed & once_)), cost, kept};
  }

  std::vector<TensorIndex> tensors_of(Mask mask) const {
    std::vector<TensorIndex> result;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if ((mask >> i & 1) != 0) result.push_back(open_[i]);
    }
    for (const OpIndex op : what_.ops) {
      for (const TensorIndex tensor : what_.problem->outputs(op)) {
        if (choice_[tensor] == Choice::kKept) result.push_back(tensor);
      }
    }
    return result;
  }

  const KeepProblem& what_;
  std::vector<Choice> choice_;
  std::vector<TensorIndex> made_;  // that are not kept in any case
  std::vector<TensorIndex> open_;
  std::vector<Run> runs_;  // last op first
  std::vector<std::int64_t> bit_bytes_;
  Mask needed_ = 0;
  Mask once_ = 0;  // made by ops that may not run again: kept where they are needed
};

}  // namespace

std::vector<KeepSet> pareto(std::vector<KeepSet> sets) {
  std::sort(sets.begin(), sets.end(), [](const KeepSet& a, const KeepSet& b) {
    if (a.cost != b.cost) return a.cost < b.cost;
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.kept < b.kept;
  });
  std::vector<KeepSet> front;
  for (KeepSet& set : sets) {
    if (front.empty() || set.bytes < front.back().bytes) front.push_back(std::move(set));
  }
  return front;
}

std::vector<KeepSet> keep_front(const KeepProblem& what, std::size_t most, bool* exact) {
  Enumeration enumeration(what);
  if (exact != nullptr) *exact = true;
  if (enumeration.open() <= most) {
    std::vector<KeepSet> sets = enumeration.sets();
    if (!sets.empty()) return pareto(std::move(sets));
  }
  if (exact != nullptr) *exact = false;
  std::vector<KeepSet> hull = keep_hull(what);
  enumeration.open_where_different(hull);
  if (enumeration.open() <= most) {
    std::vector<KeepSet> sets = enumeration.sets();
    hull.insert(hull.end(), sets.begin(), sets.end());
  }
  return pareto(std::move(hull));
}

}  // namespace tidemark::remat
