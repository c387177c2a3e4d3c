#include "tools/placement_trials.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/op_time.hpp"
#include "graph/remat/rematerialise.hpp"
#include "hardware/ensure.hpp"
#include "sim/allocators/table.hpp"

namespace tidemark::tools {
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

Steps steps_of(const PlanningBase& base, const scenarios::RunSpec& run,
               const remat::Sequence& sequence, std::shared_ptr<const PlacementNote> note,
               std::span<const remat::TensorIndex> moved) {
  const auto replayed = [&](const StepGraph& graph) {
    return remat::replay(graph, remat::sequence_of(graph, base.steady, base.step, sequence));
  };
  // An instance that is not made again has the number of the tensor.
  const auto named = [&](const StepGraph& graph) {
    return moved.empty() ? std::vector<TensorId>()
                         : remat::tensors_of(graph, base.steady, base.step, moved);
  };
  return {run,
          replayed(base.first),
          replayed(base.steady),
          std::move(note),
          {named(base.first), named(base.steady)}};
}

Trial try_out(const scenarios::RunSpec& run, const Steps& steps) {
  const sim::AllocatorKind* kind = sim::find_allocator(run.allocator.kind);
  ensure(kind != nullptr, "the loader should have refused an unknown allocator");
  const PlayedSteps played = steps.play(run.allocator, sim::Capacity::kIgnored);
  const auto most = [&](Tier tier) {
    return std::max(reserved_peak(steps.first().program, played.first, tier, kind->keeps_cache),
                    reserved_peak(steps.steady().program, *played.steady, tier, kind->keeps_cache));
  };
  Trial trial{most(Tier::kHbm), most(Tier::kHost), most(Tier::kSsd), played.steady->end, true};
  const auto& capacity = steps.steady().program.capacity;
  trial.room = trial.host <= capacity[static_cast<std::size_t>(Tier::kHost)] &&
               trial.ssd <= capacity[static_cast<std::size_t>(Tier::kSsd)];
  return trial;
}

}  // namespace tidemark::tools
