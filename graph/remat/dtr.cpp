#include "graph/remat/dtr.hpp"

#include <algorithm>

namespace tidemark::remat {

DtrRun::DtrRun(const Problem& problem, DtrScore score, std::int64_t most_repeats)
    : problem_(problem),
      score_(score),
      most_runs_(static_cast<std::size_t>((1 + most_repeats) * problem.op_count())),
      costs_(problem, score),
      useful_(problem.tensor_count(), 0),
      dying_(std::size_t{problem.op_count()} + 1),
      access_(problem.tensor_count(), 0),
      locks_(problem.tensor_count(), 0),
      place_(problem.tensor_count(), kNone) {
  find_uses();
}

// The last op that reads each tensor, or may need it to make something again that is read.
void DtrRun::find_uses() {
  const OpIndex end = problem_.op_count();
  for (OpIndex op = 0; op < end; ++op) {
    for (const TensorIndex tensor : problem_.inputs(op)) useful_[tensor] = op;
    for (const TensorIndex tensor : problem_.outputs(op)) useful_[tensor] = op;
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

OpIndex DtrRun::again_before(OpIndex op, std::span<const TensorIndex> inputs) {
  if (waiting_.empty()) waiting_.push_back({op, inputs});
  for (;;) {
    Waiting& next = waiting_.back();
    OpIndex missing = kNone;
    for (; next.there < next.inputs.size(); ++next.there) {
      const TensorIndex tensor = next.inputs[next.there];
      if (!counted(tensor)) continue;
      if (!resident(tensor)) {
        missing = problem_.tensor(tensor).producer;
        break;
      }
      ++locks_[tensor];
    }
    if (missing != kNone) {
      waiting_.push_back({missing, problem_.inputs(missing)});
      continue;
    }
    if (!next.ready) {
      for (const TensorIndex tensor : problem_.outputs(next.op)) ++locks_[tensor];
    }
    next.ready = true;
    return waiting_.size() == 1 ? kNone : next.op;
  }
}

void DtrRun::ran(std::int64_t clock, bool makes) {
  const Waiting done = waiting_.back();
  waiting_.pop_back();
  ++runs_;
  for (const TensorIndex tensor : problem_.outputs(done.op)) {
    --locks_[tensor];
    if (!makes || dead(tensor)) continue;
    if (!resident(tensor)) appear(tensor);
    access_[tensor] = clock;
  }
  for (const TensorIndex tensor : done.inputs) {
    if (!counted(tensor)) continue;
    access_[tensor] = clock;
    --locks_[tensor];
  }
}

void DtrRun::appear(TensorIndex tensor) {
  costs_.set_resident(tensor);
  if (stays(tensor) || problem_.tensor(tensor).bytes == 0) return;
  place_[tensor] = static_cast<std::uint32_t>(pool_.size());
  pool_.push_back(tensor);
}

void DtrRun::take_from_pool(TensorIndex tensor) {
  if (place_[tensor] == kNone) return;
  place_[pool_.back()] = place_[tensor];
  pool_[place_[tensor]] = pool_.back();
  pool_.pop_back();
  place_[tensor] = kNone;
}

void DtrRun::leave(TensorIndex tensor) {
  take_from_pool(tensor);
  costs_.set_evicted(tensor);
}

void DtrRun::bury(OpIndex op) {
  for (const TensorIndex tensor : dying_[op]) {
    if (!counted(tensor)) continue;
    take_from_pool(tensor);
    costs_.set_dead(tensor);
  }
}

TensorIndex DtrRun::evict(std::int64_t clock) {
  if (runs_ >= most_runs_) return kNone;
  TensorIndex worst = kNone;
  double least = 0;
  for (const TensorIndex tensor : pool_) {
    if (locks_[tensor] != 0) continue;
    if (worst != kNone && least_score_of(tensor, clock) > least) continue;
    const double score = score_of(tensor, clock);
    if (worst != kNone && (score > least || (score == least && tensor > worst))) continue;
    worst = tensor;
    least = score;
  }
  if (worst != kNone) leave(worst);
  return worst;
}

// What its score is at least, whatever is evicted around it: cheaper to find.
double DtrRun::least_score_of(TensorIndex tensor, std::int64_t clock) const {
  const bool looks_around =
      score_ == DtrScore::kDtr || score_ == DtrScore::kDtrEq || score_ == DtrScore::kMsps;
  if (!looks_around) return 0;
  const double stale =
      score_ == DtrScore::kMsps
          ? 1
          : static_cast<double>(std::max<std::int64_t>(clock - access_[tensor], 1));
  return costs_.own(tensor) / (static_cast<double>(problem_.tensor(tensor).bytes) * stale);
}

double DtrRun::score_of(TensorIndex tensor, std::int64_t clock) {
  const double bytes = static_cast<double>(problem_.tensor(tensor).bytes);
  const double stale = static_cast<double>(std::max<std::int64_t>(clock - access_[tensor], 1));
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

namespace {

// The memory of dtr(): bytes, as the referee counts them.
class Counting {
 public:
  Counting(const Problem& problem, std::int64_t budget, DtrScore score, std::int64_t most_repeats)
      : problem_(problem), budget_(budget), run_(problem, score, most_repeats) {
    last_reader_.resize(problem.tensor_count(), 0);
    for (OpIndex op = 0; op < problem.op_count(); ++op) {
      for (const TensorIndex tensor : problem.inputs(op)) last_reader_[tensor] = op;
      for (const TensorIndex tensor : problem.outputs(op)) last_reader_[tensor] = op;
    }
  }

  DtrResult play() {
    for (OpIndex op = 0; op < problem_.op_count(); ++op) {
      for (OpIndex now = kNone; now != op;) {
        const OpIndex again = run_.again_before(op);
        now = again == kNone ? op : again;
        if (!run(now)) {
          result_.stuck_at = op;
          return std::move(result_);
        }
      }
      release(op);
    }
    result_.sequence = std::move(sequence_);
    return std::move(result_);
  }

 private:
  bool run(OpIndex op) {
    std::int64_t needed = problem_.op(op).workspace, stays = 0;
    for (const TensorIndex tensor : problem_.outputs(op)) {
      if (run_.resident(tensor)) continue;
      needed += problem_.tensor(tensor).bytes;
      if (!run_.dead(tensor)) stays += problem_.tensor(tensor).bytes;
    }
    while (bytes_ + needed > budget_) {
      const TensorIndex out = run_.evict(clock_);
      if (out == kNone) return false;
      bytes_ -= problem_.tensor(out).bytes;
      result_.evictions.push_back(out);
    }
    bytes_ += stays;
    clock_ += problem_.op(op).cost;
    run_.ran(clock_);
    sequence_.push_back(op);
    return true;
  }

  // What nobody reads any more goes, unless it may not run again and is needed to make others.
  void release(OpIndex op) {
    const auto let_go = [&](TensorIndex tensor) {
      if (problem_.tensor(tensor).producer == kNone || last_reader_[tensor] > op) return;
      if (problem_.tensor(tensor).keep || run_.stays(tensor) || !run_.resident(tensor)) return;
      if (run_.dies_by(tensor, op)) return;
      bytes_ -= problem_.tensor(tensor).bytes;
      run_.let_go(tensor);
    };
    for (const TensorIndex tensor : problem_.inputs(op)) let_go(tensor);
    for (const TensorIndex tensor : problem_.outputs(op)) let_go(tensor);
    for (const TensorIndex tensor : run_.dying(op)) {
      if (run_.resident(tensor)) bytes_ -= problem_.tensor(tensor).bytes;
    }
    run_.bury(op);
  }

  const Problem& problem_;
  std::int64_t budget_;
  DtrRun run_;
  std::vector<OpIndex> last_reader_;
  std::int64_t bytes_ = 0, clock_ = 0;
  Sequence sequence_;
  DtrResult result_;
};

}  // namespace

DtrResult dtr(const Problem& problem, std::int64_t budget, DtrScore score,
              std::int64_t most_repeats) {
  return Counting(problem, budget, score, most_repeats).play();
}

}  // namespace tidemark::remat
