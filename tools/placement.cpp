#include "tools/placement.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/op_time.hpp"
#include "graph/plan.hpp"
#include "graph/policies/policy.hpp"
#include "graph/remat/from_step.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/rematerialise.hpp"
#include "hardware/ensure.hpp"
#include "sim/allocators/table.hpp"

namespace tidemark::tools {
namespace {

constexpr int kMostHalvings = 14;  // of the range of proxy budgets: to 1/16384 of it

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

}  // namespace

Steps place_within_budget(const scenarios::RunSpec& run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  ensure(policy != nullptr && policy->planner != nullptr, "the policy plans for a budget");
  const StepGraph first = lower_run(run, StepKind::kFirst);
  const StepGraph steady = lower_run(run, StepKind::kSteady);
  std::vector<SimTime> times;
  for (std::uint32_t i = 0; i < steady.op_count(); ++i) {
    times.push_back(op_time(run.machine.gpu, steady.ops[i]));
  }
  const remat::StepProblem problem = remat::problem_of(steady, times);
  const Planner planner =
      policy->planner(problem.problem, {run.model.layers, run.checkpoint_options});
  const auto steps_of = [&](const remat::Sequence& sequence, const PlacementNote& note) {
    return Steps(run, replayed(run, first, remat::sequence_of(first, steady, problem, sequence)),
                 replayed(run, steady, remat::sequence_of(steady, steady, problem, sequence)),
                 std::make_shared<const PlacementNote>(note));
  };

  PlacementNote best;
  best.budget = Bytes(run.checkpoint_options.front().integer);
  if (best.budget.count == 0) best.budget = run.machine.gpu.capacity;
  std::optional<remat::Sequence> found;

  // Nothing: no plan. Else whether it stays within the budget.
  const auto attempt = [&](std::int64_t proxy) -> std::optional<bool> {
    auto sequence = planner(proxy);
    if (!sequence) return std::nullopt;
    const Steps steps = steps_of(*sequence, best);
    const PlayedSteps played = steps.play(run.allocator, sim::Capacity::kIgnored);
    ++best.simulations;
    const Bytes peak = std::max(hbm_peak(run, steps.first(), played.first),
                                hbm_peak(run, steps.steady(), *played.steady));
    const bool met = peak <= best.budget;
    if (met || (!best.met && (!found || peak < best.peak))) {
      found = std::move(sequence);
      best.peak = peak;
      best.proxy = Bytes(proxy);
      best.met = met;
    }
    return met;
  };

  const remat::Sequence everything = remat::keep_everything(problem.problem);
  std::int64_t most = remat::referee(problem.problem, everything).peak;
  if (!attempt(most).value_or(false)) {
    std::int64_t least = remat::needs_at_least(problem.problem).bytes;
    for (int i = 0; i < kMostHalvings && most - least > 1; ++i) {
      const std::int64_t middle = least + (most - least) / 2;
      (attempt(middle).value_or(true) ? least : most) = middle;
    }
  }
  return steps_of(found ? *found : everything, best);
}

}  // namespace tidemark::tools
