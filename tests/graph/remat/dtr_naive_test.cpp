// dtr() held to a naive run-time system with an allocator of so many bytes: an allocation fails, a
// tensor is evicted, and what is missing is made again, recursively, as it is read. Shares no code
// with DtrRun and knows of scores only their definitions.

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "graph/remat/dtr.hpp"
#include "graph/remat/from_step.hpp"
#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/replays.hpp"
#include "tests/support/step_to_plan.hpp"

namespace tidemark::remat {
namespace {

struct Event {
  enum class What { kRun, kEvict } what = What::kRun;
  std::uint32_t which = 0;  // op or tensor
  std::int64_t clock = 0;   // of the compute stream, when it begins

  bool operator==(const Event&) const = default;
};

// Thrown where an allocation fails and nothing may go.
struct Stuck {};

class OnlineExecutor {
 public:
  OnlineExecutor(const Problem& problem, std::int64_t capacity, DtrScore score)
      : problem_(problem), free_(capacity), score_(score), tensors_(problem.tensor_count()) {
    find_what_is_made();
  }

  // What happens, in order.
  const std::vector<Event>& train() {
    for (OpIndex op = 0; op < problem_.op_count(); ++op) {
      call(op);
      collect(op);
    }
    return events_;
  }
  const std::vector<Event>& events() const { return events_; }

 private:
  struct State {
    bool resident = false, evicted = false, gone = false;
    int locks = 0;
    std::int64_t touched = 0;
    std::uint32_t set = kNone;  // of evicted tensors; for h_DTR-eq
  };

  bool made_here(TensorIndex t) const { return problem_.tensor(t).producer != kNone; }
  bool can_come_back(TensorIndex t) const {
    return problem_.op(problem_.tensor(t).producer).recomputable;
  }
  double own(TensorIndex t) const {
    return static_cast<double>(problem_.op(problem_.tensor(t).producer).cost);
  }

  void call(OpIndex op) {
    for (const TensorIndex t : problem_.inputs(op)) {
      if (!made_here(t)) continue;
      if (!tensors_[t].resident) call(problem_.tensor(t).producer);
      ++tensors_[t].locks;
    }
    std::vector<TensorIndex> fresh;
    std::int64_t wanted = problem_.op(op).workspace;
    for (const TensorIndex t : problem_.outputs(op)) {
      ++tensors_[t].locks;
      if (tensors_[t].resident) continue;
      fresh.push_back(t);
      wanted += problem_.tensor(t).bytes;
    }
    while (wanted > free_) evict();
    events_.push_back({Event::What::kRun, op, clock_});
    clock_ += problem_.op(op).cost;
    ++calls_;
    for (const TensorIndex t : fresh) {
      if (tensors_[t].gone) continue;  // nobody will ask for it: freed as the call returns
      free_ -= problem_.tensor(t).bytes;
      comes_back(t);
    }
    for (const auto& row : {problem_.inputs(op), problem_.outputs(op)}) {
      for (const TensorIndex t : row) {
        if (!made_here(t)) continue;
        --tensors_[t].locks;
        tensors_[t].touched = clock_;
      }
    }
  }

  void evict() {
    if (calls_ >= (1 + kMostDtrRepeats) * problem_.op_count()) throw Stuck();
    TensorIndex least = kNone;
    double score = std::numeric_limits<double>::infinity();
    for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
      const State& state = tensors_[t];
      if (!made_here(t) || !state.resident || state.locks > 0 || !can_come_back(t)) continue;
      if (problem_.tensor(t).bytes == 0) continue;
      const double mine = score_of(t);
      if (mine < score) least = t, score = mine;
    }
    if (least == kNone) throw Stuck();
    events_.push_back({Event::What::kEvict, least, clock_});
    leaves(least);
  }

  double score_of(TensorIndex t) {
    const auto bytes = static_cast<double>(problem_.tensor(t).bytes);
    const auto stale = static_cast<double>(std::max<std::int64_t>(clock_ - tensors_[t].touched, 1));
    switch (score_) {
      case DtrScore::kDtr:
        return std::max(own(t) + evicted_around(t, true), 1.0) / (bytes * stale);
      case DtrScore::kDtrEq:
        return std::max(own(t) + sets_around(t), 1.0) / (bytes * stale);
      case DtrScore::kLocal:
        return std::max(own(t), 1.0) / (bytes * stale);
      case DtrScore::kLru:
        return 1 / stale;
      case DtrScore::kSize:
        return 1 / bytes;
      case DtrScore::kMsps:
        return std::max(own(t) + evicted_around(t, false), 1.0) / bytes;
    }
    return 0;
  }

  std::vector<TensorIndex> made_from(TensorIndex t) const {
    std::vector<TensorIndex> found;
    for (const TensorIndex in : problem_.inputs(problem_.tensor(t).producer)) {
      if (made_here(in)) found.push_back(in);
    }
    return found;
  }
  const std::vector<TensorIndex>& made_of_it(TensorIndex t) const { return made_of_it_[t]; }
  void find_what_is_made() {
    made_of_it_.resize(problem_.tensor_count());
    last_reader_.assign(problem_.tensor_count(), 0);
    for (OpIndex op = 0; op < problem_.op_count(); ++op) {
      for (const TensorIndex in : problem_.inputs(op)) {
        last_reader_[in] = op;
        if (!problem_.op(op).recomputable) continue;
        for (const TensorIndex out : problem_.outputs(op)) made_of_it_[in].push_back(out);
      }
    }
  }

  // Costs of the ops of evicted ancestors, and of descendants, through evicted tensors alone; each
  // op once, and not the tensor's own.
  double evicted_around(TensorIndex t, bool descendants) const {
    std::set<OpIndex> ops{problem_.tensor(t).producer};
    std::int64_t sum = 0;
    const auto walk = [&](const auto& next) {
      std::vector<TensorIndex> stack{t};
      std::set<TensorIndex> seen;
      while (!stack.empty()) {
        const TensorIndex at = stack.back();
        stack.pop_back();
        for (const TensorIndex other : next(at)) {
          if (!tensors_[other].evicted || !seen.insert(other).second) continue;
          const OpIndex op = problem_.tensor(other).producer;
          if (ops.insert(op).second) sum += problem_.op(op).cost;
          stack.push_back(other);
        }
      }
    };
    walk([&](TensorIndex at) { return made_from(at); });
    if (descendants) walk([&](TensorIndex at) { return made_of_it(at); });
    return static_cast<double>(sum);
  }

  double sets_around(TensorIndex t) const {
    std::set<std::uint32_t> sets;
    const auto add = [&](TensorIndex other) {
      if (tensors_[other].evicted) sets.insert(tensors_[other].set);
    };
    for (const TensorIndex other : made_from(t)) add(other);
    for (const TensorIndex other : made_of_it(t)) add(other);
    double sum = 0;
    for (const std::uint32_t set : sets) sum += set_cost_[set];
    return sum;
  }

  // From memory, to come back when it is read.
  void leaves(TensorIndex t) {
    State& state = tensors_[t];
    if (state.resident) free_ += problem_.tensor(t).bytes;
    state.resident = false;
    state.evicted = true;
    // One set with the evicted around it. What left earlier and came back may still hold others
    // together.
    state.set = static_cast<std::uint32_t>(set_cost_.size());
    set_cost_.push_back(own(t));
    const auto join = [&](TensorIndex other) {
      if (!tensors_[other].evicted || tensors_[other].set == state.set) return;
      const std::uint32_t old = tensors_[other].set;
      set_cost_[state.set] += set_cost_[old];
      for (State& each : tensors_) {
        if (each.set == old) each.set = state.set;
      }
    };
    for (const TensorIndex other : made_from(t)) join(other);
    for (const TensorIndex other : made_of_it(t)) join(other);
  }

  void comes_back(TensorIndex t) {
    State& state = tensors_[t];
    if (state.evicted) set_cost_[state.set] -= own(t);
    state.resident = true;
    state.evicted = false;
    state.set = kNone;
  }

  // The framework's references. What the op was the last to read is let go of as it returns, and
  // may come back to make others; what cannot come back stays for them. What was made again for
  // others alone stays until it is evicted.
  void collect(OpIndex done) {
    const std::vector<bool> wanted = may_be_wanted(done);
    for (const auto& row : {problem_.inputs(done), problem_.outputs(done)}) {
      for (const TensorIndex t : row) {
        if (!made_here(t) || problem_.tensor(t).keep || !tensors_[t].resident) continue;
        if (wanted[t] && can_come_back(t) && !read_after(t, done)) leaves(t);
      }
    }
    const auto made = [&](TensorIndex t) {
      return made_here(t) && !tensors_[t].gone && problem_.tensor(t).producer <= done;
    };
    for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
      State& state = tensors_[t];
      if (!made(t) || wanted[t]) continue;
      if (state.resident) free_ += problem_.tensor(t).bytes;
      if (state.evicted) set_cost_[state.set] -= own(t);
      state = {.gone = true};
    }
  }

  bool read_after(TensorIndex t, OpIndex done) const { return last_reader_[t] > done; }

  // By an op to come, or to make something again that is wanted.
  std::vector<bool> may_be_wanted(OpIndex done) const {
    std::vector<bool> wanted(problem_.tensor_count());
    for (TensorIndex t = problem_.tensor_count(); t-- > 0;) {
      wanted[t] = problem_.tensor(t).keep || read_after(t, done);
      for (const TensorIndex out : made_of_it(t)) wanted[t] = wanted[t] || wanted[out];
    }
    return wanted;
  }

  const Problem& problem_;
  std::int64_t free_;
  DtrScore score_;
  std::vector<State> tensors_;
  std::vector<std::vector<TensorIndex>> made_of_it_;  // by tensor, of what may run again
  std::vector<OpIndex> last_reader_;
  std::vector<double> set_cost_;
  std::int64_t clock_ = 0, calls_ = 0;
  std::vector<Event> events_;
};

struct Count {
  int alike = 0, stuck = 0;
  std::size_t evictions = 0, repeats = 0;
};

// Whether the plan is what the run does; what both are made of is counted.
void hold(const Problem& problem, std::int64_t budget, DtrScore score, Count& count) {
  const DtrResult plan = dtr(problem, budget, score);
  OnlineExecutor run(problem, budget, score);
  bool stuck = false;
  try {
    run.train();
  } catch (const Stuck&) {
    stuck = true;
  }
  REQUIRE(plan.sequence.has_value() == !stuck);
  std::vector<TensorIndex> evicted;
  Sequence ran;
  std::vector<std::int64_t> begins;
  for (const Event& event : run.events()) {
    if (event.what == Event::What::kEvict) {
      evicted.push_back(event.which);
    } else {
      ran.push_back(event.which);
      begins.push_back(event.clock);
    }
  }
  const bool same_evictions = plan.evictions == evicted;
  CHECK(same_evictions);
  ++count.alike;
  count.evictions += evicted.size();
  count.stuck += stuck;
  if (stuck) return;
  const bool same_order = *plan.sequence == ran;
  CHECK(same_order);
  CHECK(referee(problem, ran).peak <= budget);
  // When each op of the plan begins, on a stream that runs one after the other.
  std::int64_t clock = 0;
  std::vector<std::int64_t> planned;
  for (const OpIndex op : *plan.sequence) {
    planned.push_back(clock);
    clock += problem.op(op).cost;
  }
  const bool same_times = planned == begins;
  CHECK(same_times);
  count.repeats += ran.size() - problem.op_count();
}

Problem random_step(std::mt19937& random) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  Problem problem;
  std::vector<TensorIndex> made;
  const std::int64_t forward = 5 + below(12);
  for (std::int64_t i = 0; i < forward; ++i) {
    std::vector<TensorIndex> in;
    for (std::int64_t k = 0; i > 0 && k <= below(3); ++k) {
      const auto back = static_cast<std::size_t>(below(5)) % made.size();
      const TensorIndex t = made[made.size() - 1 - back];
      if (std::ranges::find(in, t) == in.end()) in.push_back(t);
    }
    std::vector<TensorIndex> out;
    for (std::int64_t k = 0; k <= below(4) / 3; ++k) out.push_back(problem.add_tensor(below(9)));
    problem.add_op({.cost = below(50), .workspace = below(3), .recomputable = below(7) != 0}, in,
                   out);
    made.insert(made.end(), out.begin(), out.end());
  }
  TensorIndex gradient = kNone;
  for (std::size_t i = made.size(); i-- > 0;) {
    std::vector<TensorIndex> in{made[i]};
    const TensorIndex other = made[static_cast<std::size_t>(below(100)) % made.size()];
    if (other != made[i]) in.push_back(other);
    if (gradient != kNone) in.push_back(gradient);
    gradient = problem.add_tensor(1 + below(4), below(4) == 0);
    problem.add_op({.cost = 1 + below(50), .backward = true}, in, std::vector{gradient});
  }
  return problem;
}

TEST_CASE("dtr does what a naive run-time system does, by every score") {
  std::mt19937 random(17);
  Count count;
  for (int number = 0; number < 100; ++number) {
    const Problem problem = random_step(random);
    const std::int64_t most = referee(problem, keep_everything(problem)).peak;
    const std::int64_t least = needs_at_least(problem).bytes;
    for (const DtrScoreName& score : kDtrScores) {
      for (const std::int64_t quarters : {0, 1, 3}) {
        INFO("step " << number << ", " << score.name << ", " << quarters);
        hold(problem, least + (most - least) * quarters / 4, score.score, count);
      }
    }
  }
  CHECK(count.evictions > 5000);
  CHECK(count.repeats > 5000);
  CHECK(count.stuck > 0);
  CHECK(count.stuck < count.alike / 2);
}

TEST_CASE("dtr does what a naive run-time system does on a step of every architecture") {
  Count count;
  for (StepGraph& graph : support::small_steps()) {
    const support::StepToPlan planned(std::move(graph));
    for (const DtrScoreName& score : kDtrScores) {
      INFO(score.name);
      hold(planned.step.problem, planned.budget(0.5), score.score, count);
    }
  }
  CHECK(count.evictions > 100);
  CHECK(count.repeats > 100);
}

}  // namespace
}  // namespace tidemark::remat
