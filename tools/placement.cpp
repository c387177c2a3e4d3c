#include "tools/placement.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "graph/op_time.hpp"
#include "graph/plan.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/rematerialise.hpp"
#include "hardware/ensure.hpp"
#include "sim/allocators/table.hpp"

namespace tidemark::tools {
namespace {

constexpr int kMostSimulations = 15;
constexpr std::int64_t kSteps = 16384;  // the search ends at this share of the range of budgets

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

PlannedStep replayed(const scenarios::RunSpec& run, const StepGraph& graph,
                     const std::vector<OpId>& sequence) {
  PlannedStep step{remat::replay(graph, sequence), {}, 0};
  step.lowered_names = step.graph.names.size();
  step.program = plan(step.graph, run.training, run.offload, run.machine);
  return step;
}

Bytes hbm_peak(const scenarios::RunSpec& run, const PlannedStep& step, const sim::Result& result) {
  const sim::AllocatorKind* kind = sim::find_allocator(run.allocator.kind);
  ensure(kind != nullptr, "the loader should have refused an unknown allocator");
  return reserved_peak(step.program, result, Tier::kHbm, kind->keeps_cache);
}

Steps steps_of(const PlanningBase& base, const scenarios::RunSpec& run,
               const remat::Sequence& sequence, std::shared_ptr<const PlacementNote> note) {
  return {
      run,
      replayed(run, base.first, remat::sequence_of(base.first, base.steady, base.step, sequence)),
      replayed(run, base.steady, remat::sequence_of(base.steady, base.steady, base.step, sequence)),
      std::move(note)};
}

// The search for one budget.
class Search {
 public:
  Search(const PlanningBase& base, const Planner& planner, const scenarios::RunSpec& run)
      : base_(base), problem_(base.step.problem), planner_(planner), run_(run) {
    note_.budget = Bytes(run.checkpoint_options.front().integer);
    if (note_.budget.count == 0) note_.budget = run.machine.gpu.capacity;
  }

  void find() {
    const std::int64_t everything = remat::referee(problem_, remat::keep_everything(problem_)).peak;
    low_ = remat::needs_at_least(problem_).bytes - 1;
    high_ = everything + 1;
    const std::int64_t least_step = std::max<std::int64_t>((high_ - low_) / kSteps, 1);
    std::int64_t proxy = everything;
    while (note_.simulations < kMostSimulations && high_ - low_ > least_step) {
      const std::optional<std::int64_t> next = attempt(proxy);
      if (next && *next > low_ && *next < high_) {
        proxy = *next;
      } else if (done_) {
        break;
      } else {
        proxy = low_ + (high_ - low_) / 2;
      }
    }
  }

  Steps steps(double setup_seconds) {
    note_.planning_seconds = seconds_ + setup_seconds;
    note_.recompute = SimTime(note_.recompute.count() * run_.training.micro_batches);
    if (note_.bound) note_.bound = SimTime(note_.bound->count() * run_.training.micro_batches);
    return steps_of(base_, run_, found_ ? *found_ : remat::keep_everything(problem_),
                    std::make_shared<const PlacementNote>(note_));
  }

 private:
  // Plans for `proxy`, simulates, narrows the range; what to try next, or nothing.
  std::optional<std::int64_t> attempt(std::int64_t proxy) {
    const auto begin = std::chrono::steady_clock::now();
    auto placement = planner_(proxy);
    seconds_ += seconds_since(begin);
    if (!placement) {
      low_ = proxy;
      return std::nullopt;
    }
    const auto same = std::ranges::find(played_, placement->sequence, &Played::sequence);
    if (same != played_.end()) {
      (same->peak <= note_.budget ? low_ : high_) = proxy;
      return std::nullopt;
    }
    const Steps steps = steps_of(base_, run_, placement->sequence, nullptr);
    const PlayedSteps played = steps.play(run_.allocator, sim::Capacity::kIgnored);
    ++note_.simulations;
    const Bytes peak = std::max(hbm_peak(run_, steps.first(), played.first),
                                hbm_peak(run_, steps.steady(), *played.steady));
    const SimTime time = played.steady->end;
    played_.push_back({placement->sequence, peak});
    const remat::Verdict verdict = remat::referee(problem_, placement->sequence);
    const std::int64_t next = verdict.peak + (note_.budget - peak).count;
    const bool met = peak <= note_.budget;
    offer(*std::move(placement), proxy, verdict, peak, time);
    if (met) {
      low_ = proxy;
      // A plan for what the budget leaves was offered just now.
      done_ = next <= proxy || verdict.recompute_time == 0;
      return next;
    }
    high_ = proxy;
    return next;
  }

  void offer(Placement placement, std::int64_t proxy, const remat::Verdict& verdict, Bytes peak,
             SimTime time) {
    const bool met = peak <= note_.budget;
    const bool better = !found_                ? true
                        : met != note_.met     ? met
                        : met && time != time_ ? time < time_
                                               : peak < note_.peak;
    if (!better) return;
    found_ = std::move(placement.sequence);
    time_ = time;
    note_.peak = peak;
    note_.proxy = Bytes(proxy);
    note_.met = met;
    note_.method = std::string(placement.method);
    note_.recompute = SimTime(verdict.recompute_time);
    note_.bound.reset();
    if (placement.bound) note_.bound = SimTime(*placement.bound);
  }

  struct Played {
    remat::Sequence sequence;
    Bytes peak;
  };

  const PlanningBase& base_;
  const remat::Problem& problem_;
  const Planner& planner_;
  const scenarios::RunSpec& run_;
  PlacementNote note_;
  std::optional<remat::Sequence> found_;
  SimTime time_{};
  std::vector<Played> played_;
  std::int64_t low_ = 0, high_ = 0;  // proxies: fits or has no plan; does not fit
  bool done_ = false;
  double seconds_ = 0;
};

}  // namespace

std::shared_ptr<const PlanningBase> planning_base(const scenarios::RunSpec& run) {
  StepGraph first = lower_run(run, StepKind::kFirst);
  StepGraph steady = lower_run(run, StepKind::kSteady);
  std::vector<SimTime> times;
  for (std::uint32_t i = 0; i < steady.op_count(); ++i) {
    times.push_back(op_time(run.machine.gpu, steady.ops[i]));
  }
  remat::StepProblem step = remat::problem_of(steady, times);
  return std::make_shared<const PlanningBase>(
      PlanningBase{std::move(first), std::move(steady), std::move(step)});
}

Placer::Placer(std::shared_ptr<const PlanningBase> base, const scenarios::RunSpec& run)
    : base_(std::move(base)), policy_(find_policy(run.checkpoint_policy)) {
  ensure(policy_ != nullptr && policy_->planner != nullptr, "the policy has a planner");
  const auto begin = std::chrono::steady_clock::now();
  planner_ =
      policy_->planner({base_->steady, base_->step, run.model.layers, run.checkpoint_options});
  setup_seconds_ = seconds_since(begin);
}

Steps Placer::place(const scenarios::RunSpec& run) const {
  if (policy_->plans_for_budget()) {
    Search search(*base_, planner_, run);
    search.find();
    return search.steps(setup_seconds_);
  }
  const auto placement = planner_(0);
  return steps_of(*base_, run,
                  placement ? placement->sequence : remat::keep_everything(base_->step.problem),
                  nullptr);
}

}  // namespace tidemark::tools
