#include "graph/remat/cut_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "graph/remat/front.hpp"

namespace tidemark::remat {

std::int64_t mandatory_bytes(const Problem& problem, OpIndex op) {
  std::int64_t bytes = problem.op(op).workspace;
  const auto produced = [&](TensorIndex tensor) {
    return problem.tensor(tensor).producer != kNone;
  };
  std::vector<char> counted(problem.tensor_count(), 0);
  const auto count = [&](TensorIndex tensor) {
    if (produced(tensor) && counted[tensor] == 0) bytes += problem.tensor(tensor).bytes;
    counted[tensor] = 1;
  };
  for (const TensorIndex tensor : problem.inputs(op)) count(tensor);
  for (const TensorIndex tensor : problem.outputs(op)) count(tensor);
  const auto from_backward = [&](TensorIndex tensor) {
    const OpIndex producer = problem.tensor(tensor).producer;
    return producer != kNone && producer < op && problem.op(producer).backward;
  };
  for (OpIndex later = op + 1; later < problem.op_count(); ++later) {
    for (const TensorIndex tensor : problem.inputs(later)) {
      if (from_backward(tensor)) count(tensor);
    }
  }
  for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
    if (problem.tensor(t).keep && from_backward(t)) count(t);
  }
  return bytes;
}

namespace {

constexpr std::size_t kLevels = 4096;
constexpr std::size_t kExactMoments = 3;  // that the relaxed bound finds tightest

std::vector<KeepSet> hull_of(const std::vector<KeepSet>& front) {
  std::vector<KeepSet> hull;  // from most bytes to fewest: costs rise ever faster
  for (const KeepSet& point : front) {
    while (hull.size() >= 2) {
      const KeepSet &a = hull[hull.size() - 2], &b = hull.back();
      const double ab =
          static_cast<double>(b.cost - a.cost) / static_cast<double>(a.bytes - b.bytes);
      const double bc =
          static_cast<double>(point.cost - b.cost) / static_cast<double>(b.bytes - point.bytes);
      if (ab < bc) break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

// The fronts of parts, seen from a moment of backward.
class Parts {
 public:
  Parts(const Problem& problem, const Chain& chain)
      : problem_(problem), readers_(readers(problem)), held_(problem.tensor_count()) {
    OpIndex begin = 0;
    for (const Stage& stage : chain) {
      if (ranges_.empty() && stage.forward_begin > 0) add_range(begin, stage.forward_begin);
      add_range(stage.forward_begin, stage.forward_end);
      begin = stage.forward_end;
    }
    if (begin < problem.backward_begin()) add_range(begin, problem.backward_begin());
  }

  // For each part the number of its front while backward op `op` runs.
  std::vector<std::uint32_t> fronts_at(OpIndex op) {
    std::vector<std::uint32_t> result;
    for (const TensorIndex tensor : problem_.inputs(op)) held_[tensor] = Held::kFree;
    for (Range& range : ranges_) {
      if (op >= range.first_reader) {
        result.push_back(front_of(range, op));
      } else {
        if (range.untouched == kNone) range.untouched = front_of(range, op);
        result.push_back(range.untouched);
      }
    }
    for (const TensorIndex tensor : problem_.inputs(op)) held_[tensor] = Held::kChoose;
    return result;
  }

  const std::vector<std::vector<KeepSet>>& fronts() const { return fronts_; }
  bool exact(std::size_t front) const { return exact_[front] != 0; }

 private:
  struct Range {
    OpIndex begin, end;
    OpIndex first_reader = kNone;  // in backward, of what the part makes
    std::uint32_t untouched = kNone;
  };

  void add_range(OpIndex begin, OpIndex end) {
    Range range{begin, end};
    for (OpIndex op = begin; op < end; ++op) {
      for (const TensorIndex tensor : problem_.outputs(op)) {
        for (const OpIndex reader : readers_.of(tensor)) {
          if (problem_.op(reader).backward) {
            range.first_reader = std::min(range.first_reader, reader);
            break;
          }
        }
      }
    }
    ranges_.push_back(range);
  }

  std::uint32_t front_of(const Range& range, OpIndex op) {
    std::vector<OpIndex> ops(range.end - range.begin);
    std::iota(ops.begin(), ops.end(), range.begin);
    std::vector<TensorIndex> needed;
    std::vector<std::int64_t> key;  // of all that the front depends on
    std::map<TensorIndex, std::int64_t> number;
    for (const OpIndex i : ops) {
      key.insert(key.end(), {problem_.op(i).cost, problem_.op(i).recomputable ? 1 : 0});
      for (const TensorIndex tensor : problem_.inputs(i)) {
        const auto at = number.find(tensor);
        if (at != number.end()) key.push_back(at->second);
      }
      for (const TensorIndex tensor : problem_.outputs(i)) {
        number.emplace(tensor, static_cast<std::int64_t>(number.size()));
        const auto all = readers_.of(tensor);
        const bool later = !all.empty() && all.back() > op && problem_.op(all.back()).backward;
        if (later) needed.push_back(tensor);
        key.insert(key.end(), {-1, problem_.tensor(tensor).bytes, later ? 1 : 0,
                               held_[tensor] == Held::kFree ? 1 : 0});
      }
      key.push_back(-2);
    }
    const auto next = static_cast<std::uint32_t>(fronts_.size());
    const auto [at, added] = known_.try_emplace(std::move(key), next);
    if (added) {
      bool exact = false;
      fronts_.push_back(keep_front({&problem_, ops, needed, held_}, 18, &exact));
      exact_.push_back(exact);
      for (KeepSet& set : fronts_.back()) set.kept.clear();
    }
    return at->second;
  }

  const Problem& problem_;
  Readers readers_;
  std::vector<Held> held_;
  std::vector<Range> ranges_;
  std::map<std::vector<std::int64_t>, std::uint32_t> known_;
  std::vector<std::vector<KeepSet>> fronts_;
  std::vector<char> exact_;  // by front
};

}  // namespace

CutBound::CutBound(const Problem& problem, const Chain& chain, std::size_t stages) {
  const Stage& last = chain[chain.size() - std::min(stages, chain.size())];
  Parts parts(problem, chain);
  std::vector<std::vector<std::uint32_t>> fronts;
  for (OpIndex op = problem.backward_begin(); op < last.backward_end; ++op) {
    fronts.push_back(parts.fronts_at(op));
  }
  for (const std::vector<KeepSet>& front : parts.fronts()) {
    parts_.push_back({front, hull_of(front), parts.exact(parts_.size())});
  }
  for (std::size_t i = 0; i < fronts.size(); ++i) {
    add_moment(problem, problem.backward_begin() + static_cast<OpIndex>(i), std::move(fronts[i]));
  }
}

void CutBound::add_moment(const Problem& problem, OpIndex op, std::vector<std::uint32_t> parts) {
  Moment moment;
  moment.mandatory = mandatory_bytes(problem, op);
  moment.parts = std::move(parts);
  for (const std::uint32_t part : moment.parts) {
    const std::vector<KeepSet>& hull = parts_[part].hull;
    moment.fewest += hull.back().bytes;
    moment.most_cost += hull.back().cost;
    for (std::size_t i = 1; i < hull.size(); ++i) {
      moment.steps.push_back({hull[i - 1].bytes - hull[i].bytes, hull[i].cost - hull[i - 1].cost});
    }
  }
  std::stable_sort(moment.steps.begin(), moment.steps.end(), [](const Step& a, const Step& b) {
    return static_cast<double>(a.saved) * static_cast<double>(b.bytes) >
           static_cast<double>(b.saved) * static_cast<double>(a.bytes);
  });
  moments_.push_back(std::move(moment));
}

std::optional<double> CutBound::relaxed(const Moment& moment, std::int64_t budget) const {
  std::int64_t room = budget - moment.mandatory - moment.fewest;
  if (room < 0) return {};
  std::int64_t cost = moment.most_cost;
  for (const Step& step : moment.steps) {
    if (step.bytes > room) {
      return static_cast<double>(cost) -
             static_cast<double>(step.saved) *
                 (static_cast<double>(room) / static_cast<double>(step.bytes));
    }
    room -= step.bytes;
    cost -= step.saved;
  }
  return static_cast<double>(cost);
}

namespace {

// Sure to be no more than `value` was meant to be.
std::int64_t rounded_down(double value) {
  return static_cast<std::int64_t>(std::floor(value * (1 - 1e-12)));
}

}  // namespace

// One point of each front: bytes rounded down to whole levels, cost as it is.
std::int64_t CutBound::exact(const Moment& moment, std::int64_t budget) const {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t unit = 0, all = 0;
  for (const std::uint32_t part : moment.parts) {
    for (const KeepSet& set : parts_[part].front) unit = std::gcd(unit, set.bytes);
    all += parts_[part].front.front().bytes;
  }
  const std::int64_t room = std::min(budget - moment.mandatory, all);
  unit = std::max(unit, room / static_cast<std::int64_t>(kLevels) + 1);
  const auto levels = static_cast<std::size_t>(room / unit) + 1;
  std::vector<std::int64_t> least(levels, 0), next;
  for (const std::uint32_t part : moment.parts) {
    next.assign(levels, kNever);
    for (const KeepSet& set : parts_[part].front) {
      const auto units = static_cast<std::size_t>(set.bytes / unit);
      if (units >= levels) continue;
      const std::int64_t* from = least.data();
      std::int64_t* to = next.data() + units;
      for (std::size_t level = 0; level < levels - units; ++level) {
        const std::int64_t sum = from[level] + set.cost;
        to[level] = sum < to[level] ? sum : to[level];
      }
    }
    least.swap(next);
  }
  return least.back();
}

std::optional<std::int64_t> CutBound::relaxed(std::int64_t budget) const {
  double best = 0;
  for (const Moment& moment : moments_) {
    const std::optional<double> bound = relaxed(moment, budget);
    if (!bound) return {};
    best = std::max(best, *bound);
  }
  return rounded_down(best);
}

std::optional<std::int64_t> CutBound::operator()(std::int64_t budget) const {
  std::vector<std::pair<double, const Moment*>> tight;
  for (const Moment& moment : moments_) {
    const std::optional<double> bound = relaxed(moment, budget);
    if (!bound) return {};
    tight.emplace_back(-*bound, &moment);
  }
  std::stable_sort(tight.begin(), tight.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (tight.empty()) return 0;
  std::int64_t best = rounded_down(-tight.front().first);
  for (std::size_t i = 0; i < std::min(kExactMoments, tight.size()); ++i) {
    const Moment& moment = *tight[i].second;
    const bool whole =
        std::ranges::all_of(moment.parts, [&](std::uint32_t part) { return parts_[part].exact; });
    if (whole) best = std::max(best, exact(moment, budget));
  }
  return best;
}

std::optional<std::int64_t> link_bound(const CutBound& bound, std::int64_t budget,
                                       std::int64_t bytes_per_second, std::int64_t forward_time) {
  const double rate = static_cast<double>(bytes_per_second) / 1e12;
  const auto with_stall = [&](double stall) {
    const double moved = rate * (static_cast<double>(forward_time) + stall);
    return bound.relaxed(budget + static_cast<std::int64_t>(std::ceil(moved)));
  };
  // stall + bound is convex where the bound is finite; a stall costs at least itself.
  double low = 0, high = 1;
  while (!with_stall(high)) {
    if (rate == 0) return {};
    high *= 2;
  }
  high += static_cast<double>(*with_stall(high));
  while (!with_stall(low)) {
    low = high / 2 > low + 1 && !with_stall(low + (high - low) / 2) ? low + (high - low) / 2
                                                                    : low + 1;
  }
  const auto total = [&](double stall) { return stall + static_cast<double>(*with_stall(stall)); };
  while (high - low > 1) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (total(a) <= total(b) ? high : low) = total(a) <= total(b) ? b : a;
  }
  // Within a picosecond of the least, on a convex function whose slope is below one.
  return rounded_down(std::max(0.0, std::min(total(low), total(high)) - 2));
}

}  // namespace tidemark::remat
