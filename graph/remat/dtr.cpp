#include "graph/remat/dtr.hpp"

#include <algorithm>

#include "graph/remat/dtr_costs.hpp"

namespace tidemark::remat {

namespace {

class Replay {
 public:
  Replay(const Problem& problem, std::int64_t budget, DtrScore score, std::int64_t most_repeats)
      : problem_(problem),
        budget_(budget),
        score_(score),
        most_runs_(static_cast<std::size_t>((1 + most_repeats) * problem.op_count())),
        costs_(problem, score),
        last_reader_(problem.tensor_count(), 0),
        useful_(problem.tensor_count(), 0),
        access_(problem.tensor_count(), 0),
        locks_(problem.tensor_count(), 0),
        place_(problem.tensor_count(), kNone) {
    find_uses();
  }

  DtrResult play() {
    for (OpIndex op = 0; op < problem_.op_count(); ++op) {
      if (!run(op)) {
        result_.stuck_at = op;
        return std::move(result_);
      }
      release(op);
    }
    result_.sequence = std::move(sequence_);
    return std::move(result_);
  }

 private:
  // The last op that reads each tensor, and the last that may need it to make something again.
  void find_uses() {
    const OpIndex end = problem_.op_count();
    dying_.resize(std::size_t{end} + 1);
    for (OpIndex op = 0; op < end; ++op) {
      for (const TensorIndex tensor : problem_.inputs(op)) last_reader_[tensor] = op;
      for (const TensorIndex tensor : problem_.outputs(op)) {
        last_reader_[tensor] = useful_[tensor] = op;
      }
    }
    for (OpIndex op = end; op-- > 0;) {
      OpIndex until = op;
      for (const TensorIndex tensor : problem_.outputs(op)) {
        if (problem_.tensor(tensor).keep) useful_[tensor] = end;
        if (problem_.op(op).recomputable) until = std::max(until, useful_[tensor]);
      }
      for (const TensorIndex tensor : problem_.inputs(op)) {
        useful_[tensor] = std::max(useful_[tensor], until);
      }
    }
    for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) dying_[useful_[t]].push_back(t);
  }

  bool counted(TensorIndex tensor) const { return problem_.tensor(tensor).producer != kNone; }
  bool evictable(TensorIndex tensor) const {
    return problem_.op(problem_.tensor(tensor).producer).recomputable;
  }

  bool run(OpIndex op) {
    if (sequence_.size() >= most_runs_) return false;
    for (const TensorIndex tensor : problem_.inputs(op)) {
      if (!counted(tensor)) continue;
      if (!costs_.resident(tensor) && !run(problem_.tensor(tensor).producer)) return false;
      ++locks_[tensor];
    }
    std::int64_t needed = problem_.op(op).workspace;
    for (const TensorIndex tensor : problem_.outputs(op)) {
      if (!costs_.resident(tensor)) needed += problem_.tensor(tensor).bytes;
      ++locks_[tensor];
    }
    while (bytes_ + needed > budget_) {
      if (!evict_one()) return false;
    }
    clock_ += problem_.op(op).cost;
    for (const TensorIndex tensor : problem_.outputs(op)) {
      if (!costs_.resident(tensor)) appear(tensor);
      access_[tensor] = clock_;
      --locks_[tensor];
    }
    for (const TensorIndex tensor : problem_.inputs(op)) {
      if (!counted(tensor)) continue;
      access_[tensor] = clock_;
      --locks_[tensor];
    }
    sequence_.push_back(op);
    return true;
  }

  void appear(TensorIndex tensor) {
    costs_.set_resident(tensor);
    bytes_ += problem_.tensor(tensor).bytes;
    if (!evictable(tensor) || problem_.tensor(tensor).bytes == 0) return;
    place_[tensor] = static_cast<std::uint32_t>(pool_.size());
    pool_.push_back(tensor);
  }

  // From memory; it may come back unless it is `dead`.
  void leave(TensorIndex tensor, bool dead) {
    if (costs_.resident(tensor)) {
      bytes_ -= problem_.tensor(tensor).bytes;
      if (place_[tensor] != kNone) {
        place_[pool_.back()] = place_[tensor];
        pool_[place_[tensor]] = pool_.back();
        pool_.pop_back();
        place_[tensor] = kNone;
      }
    }
    dead ? costs_.set_dead(tensor) : costs_.set_evicted(tensor);
  }

  bool evict_one() {
    TensorIndex worst = kNone;
    double least = 0;
    for (const TensorIndex tensor : pool_) {
      if (locks_[tensor] != 0) continue;
      if (worst != kNone && least_score_of(tensor) > least) continue;
      const double score = score_of(tensor);
      if (worst != kNone && (score > least || (score == least && tensor > worst))) continue;
      worst = tensor;
      least = score;
    }
    if (worst == kNone) return false;
    result_.evictions.push_back(worst);
    leave(worst, false);
    return true;
  }

  // What its score is at least, whatever is evicted around it: cheaper to find.
  double least_score_of(TensorIndex tensor) const {
    const bool looks_around =
        score_ == DtrScore::kDtr || score_ == DtrScore::kDtrEq || score_ == DtrScore::kMsps;
    if (!looks_around) return 0;
    const double stale =
        score_ == DtrScore::kMsps
            ? 1
            : static_cast<double>(std::max<std::int64_t>(clock_ - access_[tensor], 1));
    return costs_.own(tensor) / (static_cast<double>(problem_.tensor(tensor).bytes) * stale);
  }

  double score_of(TensorIndex tensor) {
    const double bytes = static_cast<double>(problem_.tensor(tensor).bytes);
    const double stale = static_cast<double>(std::max<std::int64_t>(clock_ - access_[tensor], 1));
    switch (score_) {
      case DtrScore::kDtr:
      case DtrScore::kDtrEq:
      case DtrScore::kLocal:
        return costs_.cost(tensor) / (bytes * stale);
      case DtrScore::kLru:
        return 1 / stale;
      case DtrScore::kSize:
        return 1 / bytes;
      case DtrScore::kMsps:
        return costs_.cost(tensor) / bytes;
    }
    return 0;
  }

  // What nobody reads any more goes, unless it may not run again and is needed to make others.
  void release(OpIndex op) {
    const auto unread = [&](TensorIndex tensor) {
      return counted(tensor) && last_reader_[tensor] <= op && useful_[tensor] > op &&
             !problem_.tensor(tensor).keep && evictable(tensor) && costs_.resident(tensor);
    };
    for (const TensorIndex tensor : problem_.inputs(op)) {
      if (unread(tensor)) leave(tensor, false);
    }
    for (const TensorIndex tensor : problem_.outputs(op)) {
      if (unread(tensor)) leave(tensor, false);
    }
    for (const TensorIndex tensor : dying_[op]) {
      if (counted(tensor)) leave(tensor, true);
    }
  }

  const Problem& problem_;
  std::int64_t budget_;
  DtrScore score_;
  std::size_t most_runs_;
  DtrCosts costs_;
  std::vector<OpIndex> last_reader_, useful_;
  std::vector<std::vector<TensorIndex>> dying_;  // with each op, of no use any more
  std::vector<std::int64_t> access_;
  std::vector<std::uint32_t> locks_;
  std::vector<TensorIndex> pool_;  // resident, and may go
  std::vector<std::uint32_t> place_;
  std::int64_t bytes_ = 0, clock_ = 0;
  Sequence sequence_;
  DtrResult result_;
};

}  // namespace

DtrResult dtr(const Problem& problem, std::int64_t budget, DtrScore score,
              std::int64_t most_repeats) {
  return Replay(problem, budget, score, most_repeats).play();
}

}  // namespace tidemark::remat
