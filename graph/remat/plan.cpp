#include "graph/remat/plan.hpp"

#include <algorithm>

namespace tidemark::remat {

namespace {

class Expansion {
 public:
  Expansion(const Problem& problem, const Plan& plan)
      : problem_(problem), plan_(plan), there_(plan.keep), again_(problem.backward_begin(), 0) {
    for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
      const OpIndex producer = problem.tensor(t).producer;
      if (producer == kNone || !problem.op(producer).recomputable) there_[t] = 1;
    }
    mark_what_runs_again();
  }

  Sequence sequence() {
    for (OpIndex op = 0; op < problem_.op_count(); ++op) {
      if (problem_.op(op).backward) {
        for (const TensorIndex tensor : problem_.inputs(op)) need(tensor);
      }
      sequence_.push_back(op);
      if (problem_.op(op).backward) {
        for (const TensorIndex tensor : problem_.outputs(op)) there_[tensor] = 1;
      }
    }
    return std::move(sequence_);
  }

 private:
  void mark_what_runs_again() {
    std::vector<char> read(problem_.tensor_count(), 0);
    for (OpIndex op = problem_.backward_begin(); op < problem_.op_count(); ++op) {
      for (const TensorIndex tensor : problem_.inputs(op)) read[tensor] = 1;
    }
    entered_.assign(segments(), 0);
    // A segment that is replayed may need more of those in front of it: until nothing changes.
    std::vector<char> replayed(entered_.size(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<char> needed = read;
      for (OpIndex op = problem_.backward_begin(); op-- > 0;) {
        const std::uint32_t segment = plan_.segment[op];
        const bool replay = plan_.how == How::kReplay && segment != kNone;
        bool again = false;
        for (const TensorIndex tensor : problem_.outputs(op)) {
          again = again || (needed[tensor] != 0 && there_[tensor] == 0);
        }
        if (again && replay && replayed[segment] == 0) changed = (replayed[segment] = 1) != 0;
        again = (again || (replay && replayed[segment] != 0)) && problem_.op(op).recomputable;
        again_[op] = again;
        if (!again) continue;
        for (const TensorIndex tensor : problem_.inputs(op)) needed[tensor] = 1;
      }
    }
  }

  std::size_t segments() const {
    std::size_t count = 0;
    for (const std::uint32_t segment : plan_.segment) {
      if (segment != kNone) count = std::max<std::size_t>(count, std::size_t{segment} + 1);
    }
    return count;
  }

  void need(TensorIndex tensor) {
    if (there_[tensor] != 0) return;
    const OpIndex op = problem_.tensor(tensor).producer;
    const std::uint32_t segment = plan_.segment[op];
    const bool at_once = plan_.when == When::kEntry || plan_.how == How::kReplay;
    if (segment != kNone && at_once && entered_[segment] == 0) enter(segment);
    if (there_[tensor] == 0) run(op);
  }

  void enter(std::uint32_t segment) {
    entered_[segment] = 1;
    for (OpIndex op = 0; op < problem_.backward_begin(); ++op) {
      if (plan_.segment[op] == segment && again_[op] != 0) run(op);
    }
  }

  void run(OpIndex op) {
    for (const TensorIndex tensor : problem_.inputs(op)) need(tensor);
    // A segment that was entered on the way may have run it.
    if (again_[op] == 0) return;
    again_[op] = 0;
    sequence_.push_back(op);
    for (const TensorIndex tensor : problem_.outputs(op)) there_[tensor] = 1;
  }

  const Problem& problem_;
  const Plan& plan_;
  std::vector<char> there_;  // for each tensor: backward can read it
  std::vector<char> again_;  // for each forward op: it still has to run again
  std::vector<char> entered_;
  Sequence sequence_;
};

}  // namespace

Plan plan_of_everything(const Problem& problem) {
  return {.keep = std::vector<char>(problem.tensor_count(), 1),
          .segment = std::vector<std::uint32_t>(problem.backward_begin(), kNone)};
}

Sequence sequence_of(const Problem& problem, const Plan& plan) {
  return Expansion(problem, plan).sequence();
}

}  // namespace tidemark::remat
