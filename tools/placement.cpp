#include "tools/placement.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "graph/offload/move_costs.hpp"
#include "graph/remat/problem.hpp"
#include "hardware/ensure.hpp"
#include "tools/hybrid_search.hpp"
#include "tools/placement_search.hpp"
#include "tools/runtime_placement.hpp"

namespace tidemark::tools {
namespace {

constexpr int kMostProgramsTried =
    8;  // integer programs take seconds, and the first ones come near

Bytes moved_by(const Program& program, Stream stream) {
  Bytes sum;
  for (const InstanceId id : program.order[static_cast<std::size_t>(stream)]) {
    sum += program.instances[index(id)].bytes;
  };
  return sum;
}

// What `steps` move in a steady step and `without` do not; `direct`: past the host to the SSD.
void note_moves(const Steps& steps, const Steps& without, bool direct, PlacementNote& note) {
  const auto more = [&](Stream stream) {
    return moved_by(steps.steady().program, stream) - moved_by(without.steady().program, stream);
  };
  note.to_ssd = more(Stream::kNvmeWrite);
  note.to_host = more(Stream::kCopyOut) - (direct ? Bytes(0) : note.to_ssd);
}

// The host has room for what a pass moves beside what lies there anyway.
remat::Moves moves_of(const PlanningBase& base, const scenarios::RunSpec& run) {
  remat::Moves moves = moves_to_host(base.steady, base.step, run.machine, run.offload.transport);
  const Steps without = steps_of(base, run, remat::keep_everything(base.step.problem), nullptr);
  moves.host_room = std::max<std::int64_t>(moves.host_room - try_out(run, without).host.count, 0);
  // A block of page-locked memory may be up to twice as large as what lies in it.
  if (run.offload.transport.pinned_pool == Transport::PinnedPool::kPowerOfTwo) moves.host_room /= 2;
  return moves;
}

}  // namespace

Placer::Placer(std::shared_ptr<const PlanningBase> base, const scenarios::RunSpec& run)
    : base_(std::move(base)), policy_(find_policy(run.checkpoint_policy)) {
  ensure(policy_ != nullptr && policy_->planner != nullptr, "the policy has a planner");
  const auto begin = std::chrono::steady_clock::now();
  if (runs_online(*policy_, run)) {
    planner_ = runtime_planner(*base_, *policy_, run);
    budgets_ = BudgetOf::kHbm;
  } else {
    planner_ =
        policy_->planner({base_->steady, base_->step, run.model.layers, run.checkpoint_options});
  }
  if (policy_->moves == Policy::Moves::kByPlanner &&
      moves_activations(*policy_, run.checkpoint_options)) {
    moves_ = moves_of(*base_, run);
    mover_ = policy_->planner(
        {base_->steady, base_->step, run.model.layers, run.checkpoint_options, &*moves_});
  }
  // Where what is simulated is what the planners count, the policy's own plan is best.
  const bool counted =
      run.allocator.kind == "ideal" && run.offload.activations.to == ActivationOffload::To::kGpu;
  for (const std::string_view name : policy_->rivals) {
    const Policy* rival = find_policy(name);
    if (counted || rival == nullptr) continue;
    std::vector<PolicyOption> options;
    for (const OptionSpec& option : rival->options)
      options.push_back({std::string(option.name), 0, {}, 0});
    rivals_.emplace_back(name,
                         rival->planner({base_->steady, base_->step, run.model.layers, options}));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  setup_seconds_ = seconds.count();
}

FoundPlan Placer::best_plan(const scenarios::RunSpec& run) const {
  FoundPlan best = find_plan(*base_, planner_, run, kMostPlansTried, budgets_);
  const auto try_other = [&](const Planner& planner, const std::string& method,
                             int most_tried = kMostPlansTried) {
    FoundPlan other = find_plan(*base_, planner, run, most_tried);
    const int simulations = best.note.simulations + other.note.simulations;
    const double seconds = best.note.planning_seconds + other.note.planning_seconds;
    if (is_better(other, best)) {
      best = std::move(other);
      if (!method.empty()) best.note.method = method;
    }
    best.note.simulations = simulations;
    best.note.planning_seconds = seconds;
  };
  for (const auto& [name, planner] : rivals_) try_other(planner, name);
  const bool costs_nothing = best.note.met && best.note.recompute.count() == 0;
  if (mover_ && !costs_nothing) try_other(*mover_, "", kMostProgramsTried);
  return best;
}

Steps Placer::place(const scenarios::RunSpec& run) const {
  if (!policy_->plans_for_budget()) {
    const auto placement = planner_(0);
    return steps_of(*base_, run,
                    placement ? placement->sequence : remat::keep_everything(base_->step.problem),
                    nullptr);
  }
  scenarios::RunSpec found = run;
  FoundPlan plan = best_plan(run);
  if (policy_->moves == Policy::Moves::kBySearch) {
    plan = find_hybrid(*base_, planner_, run, std::move(plan), found.offload.activations);
  }
  const std::int64_t passes = run.training.micro_batches;
  plan.note.planning_seconds += setup_seconds_;
  plan.note.recompute = SimTime(plan.note.recompute.count() * passes);
  for (auto* const time : {&plan.note.bound, &plan.note.cost}) {
    if (*time) *time = SimTime((*time)->count() * passes);
  }
  if (moves_activations(*policy_, run.checkpoint_options)) {
    note_moves(steps_of(*base_, found, plan.sequence, nullptr, plan.moved),
               steps_of(*base_, run, plan.sequence, nullptr),
               run.offload.transport.ssd_path == Transport::SsdPath::kDirect, plan.note);
  }
  return steps_of(*base_, found, plan.sequence,
                  std::make_shared<const PlacementNote>(std::move(plan.note)), plan.moved);
}

}  // namespace tidemark::tools
