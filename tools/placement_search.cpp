#include "tools/placement_search.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "graph/remat/referee.hpp"

namespace tidemark::tools {
namespace {

constexpr std::int64_t kSteps = 16384;  // the search ends at this share of the range of budgets

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// What is within the budget comes first, then what is faster; else what needs less.
bool comes_before(bool met, Bytes peak, SimTime time, const PlacementNote& other,
                  SimTime other_time) {
  if (met != other.met) return met;
  if (met) return std::pair(time, peak) < std::pair(other_time, other.peak);
  return std::pair(peak, time) < std::pair(other.peak, other_time);
}

// The search for one budget.
class Search {
 public:
  Search(const PlanningBase& base, const Planner& planner, const scenarios::RunSpec& run,
         BudgetOf budgets)
      : base_(base), problem_(base.step.problem), planner_(planner), run_(run), budgets_(budgets) {
    note_.budget = budget_of(run);
  }

  void find(int most_tried) {
    const remat::Sequence keeping = remat::keep_everything(problem_);
    const std::int64_t everything =
        budgets_ == BudgetOf::kHbm
            ? try_out(run_, steps_of(base_, run_, keeping, nullptr)).peak.count
            : remat::referee(problem_, keeping).peak;
    low_ = budgets_ == BudgetOf::kHbm ? 0 : remat::needs_at_least(problem_).bytes - 1;
    high_ = everything + 1;
    const std::int64_t least_step = std::max<std::int64_t>((high_ - low_) / kSteps, 1);
    std::int64_t proxy =
        budgets_ == BudgetOf::kHbm ? std::min(note_.budget.count, everything) : everything;
    while (note_.simulations < most_tried && high_ - low_ > least_step) {
      const std::optional<std::int64_t> next = attempt(proxy);
      if (next && *next > low_ && *next < high_) {
        proxy = *next;
      } else if (done_) {
        break;
      } else {
        proxy = low_ + (high_ - low_) / 2;
      }
    }
    if (!found_) offer_everything(keeping, everything);
  }

  FoundPlan found() && {
    note_.planning_seconds = seconds_;
    return {std::move(found_->sequence), std::move(found_->moved), time_, note_};
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
    const auto same = std::ranges::find_if(played_, [&](const Played& other) {
      return other.sequence == placement->sequence && other.moved == placement->moved;
    });
    if (same != played_.end()) {
      (same->peak <= note_.budget ? low_ : high_) = proxy;
      return std::nullopt;
    }
    const Steps steps = steps_of(base_, run_, placement->sequence, nullptr, placement->moved);
    const auto [peak, host, ssd, time, room] = try_out(run_, steps);
    ++note_.simulations;
    played_.push_back({placement->sequence, placement->moved, peak});
    const remat::Verdict verdict = remat::referee(problem_, placement->sequence);
    const std::int64_t proxy_peak =
        placement->moved.empty()
            ? verdict.peak
            : remat::peak_with_moves(problem_, placement->sequence, placement->moved);
    const std::int64_t next =
        (budgets_ == BudgetOf::kHbm ? proxy : proxy_peak) + (note_.budget - peak).count;
    const bool costs_nothing = verdict.recompute_time == 0 && placement->moved.empty();
    const bool met = peak <= note_.budget;
    if (room || placement->moved.empty()) offer(*std::move(placement), proxy, verdict, peak, time);
    if (met) {
      low_ = proxy;
      // A plan for what the budget leaves was offered just now.
      done_ = next <= proxy || costs_nothing || budgets_ == BudgetOf::kHbm;
      return done_ ? std::nullopt : std::optional(next);
    }
    high_ = proxy;
    return next;
  }

  // Where not one plan was found: what is in the way is not what a plan could recompute.
  void offer_everything(const remat::Sequence& keeping, std::int64_t proxy) {
    const Trial trial = try_out(run_, steps_of(base_, run_, keeping, nullptr));
    ++note_.simulations;
    offer({keeping, "none"}, proxy, remat::referee(problem_, keeping), trial.peak, trial.time);
  }

  void offer(Placement placement, std::int64_t proxy, const remat::Verdict& verdict, Bytes peak,
             SimTime time) {
    const bool met = peak <= note_.budget;
    if (found_ && !comes_before(met, peak, time, note_, time_)) return;
    time_ = time;
    note_.peak = peak;
    note_.proxy = Bytes(proxy);
    note_.met = met;
    note_.method = std::string(placement.method);
    note_.recompute = SimTime(verdict.recompute_time);
    note_.bound.reset();
    if (placement.bound) note_.bound = SimTime(*placement.bound);
    note_.cost.reset();
    if (placement.cost) note_.cost = SimTime(*placement.cost);
    found_ = std::move(placement);
  }

  struct Played {
    remat::Sequence sequence;
    std::vector<remat::TensorIndex> moved;
    Bytes peak;
  };

  const PlanningBase& base_;
  const remat::Problem& problem_;
  const Planner& planner_;
  const scenarios::RunSpec& run_;
  BudgetOf budgets_;
  PlacementNote note_;
  std::optional<Placement> found_;
  SimTime time_{};
  std::vector<Played> played_;
  std::int64_t low_ = 0, high_ = 0;  // proxies: fits or has no plan; does not fit
  bool done_ = false;
  double seconds_ = 0;
};

}  // namespace

Bytes budget_of(const scenarios::RunSpec& run) {
  const Bytes stated(run.checkpoint_options.front().integer);
  return stated.count == 0 ? run.machine.gpu.capacity : stated;
}

bool is_better(const FoundPlan& plan, const FoundPlan& than) {
  return comes_before(plan.note.met, plan.note.peak, plan.time, than.note, than.time);
}

FoundPlan find_plan(const PlanningBase& base, const Planner& planner, const scenarios::RunSpec& run,
                    int most_tried, BudgetOf budgets) {
  Search search(base, planner, run, budgets);
  search.find(most_tried);
  return std::move(search).found();
}

}  // namespace tidemark::tools
