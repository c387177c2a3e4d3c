#include "tools/steps.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "graph/lower.hpp"
#include "graph/offload/strategy.hpp"
#include "graph/plan.hpp"
#include "graph/policies/policy.hpp"
#include "graph/remat/rematerialise.hpp"
#include "hardware/ensure.hpp"
#include "sim/allocators/planned.hpp"
#include "sim/allocators/table.hpp"
#include "sim/executor.hpp"
#include "tools/hidden_moves.hpp"
#include "tools/placement.hpp"

namespace tidemark::tools {
namespace {

constexpr auto kHbm = static_cast<std::size_t>(Tier::kHbm);

// More than any step needs, and little enough for address space beyond it.
constexpr Bytes kPlenty{std::int64_t{1} << 56};

LoweringInput lowering_input(const scenarios::RunSpec& run, StepKind step) {
  LoweringInput input;
  input.model = run.model;
  input.training = run.training;
  input.kernels = run.kernels;
  input.checkpointing = run.checkpointing;
  input.step = step;
  ask_for(run.offload, input);
  return input;
}

// The graph as it was lowered, without the names of transfers and buffers.
StepGraph as_lowered(const PlannedStep& step) {
  StepGraph graph = step.graph;
  graph.names.resize(step.lowered_names);
  return graph;
}

bool asked_the_driver(const sim::Result& result) {
  const sim::AllocatorStatistics& hbm = result.allocators[kHbm].end;
  return hbm.driver_allocations > 0 || hbm.driver_frees > 0;
}

// A step in the places that are computed from its ideal run; where that does not come to its end
// there is nothing to place.
sim::Result play_in_place(const Program& program, sim::Capacity capacity, const std::string& text) {
  sim::Result ideal = sim::simulate(program, {.capacity = capacity});
  if (ideal.out_of_memory) return ideal;
  std::optional<std::string> fault;
  const sim::PlannedSettings settings = sim::parse_planned_settings(text, fault);
  ensure(!fault.has_value(), "the loader should have refused the allocator's settings");
  const bool limited = capacity == sim::Capacity::kEnforced;
  sim::PlannedAllocator hbm(limited ? program.capacity[kHbm] : kPlenty,
                            sim::plan_placement(program, ideal, Tier::kHbm, settings));
  sim::SimulateOptions options;
  options.capacity = capacity;
  options.allocators[kHbm] = &hbm;
  return sim::simulate(program, options);
}

}  // namespace

StepGraph lower_run(const scenarios::RunSpec& run, StepKind kind) {
  StepGraph graph = lower(lowering_input(run, kind));
  const Policy* policy = find_policy(run.checkpoint_policy);
  ensure(policy != nullptr, "the loader should have refused an unknown policy");
  if (policy->drops == nullptr || replays_segments(*policy, run.checkpoint_options)) return graph;
  const remat::Drops drops = policy->drops(graph, {run.model.layers, run.checkpoint_options});
  return remat::replay(graph, remat::sequence_of(graph, drops));
}

PlannedStep plan_step(const scenarios::RunSpec& run, StepGraph graph, const Offload& offload,
                      std::vector<TensorId> moved) {
  PlannedStep step{std::move(graph), {}, 0, std::move(moved)};
  step.lowered_names = step.graph.names.size();
  Offload with_moves = offload;
  if (!step.moved.empty()) {
    ActivationOffload named;
    named.to = ActivationOffload::To::kHost;
    named.which = ActivationOffload::Which::kNamed;
    named.named = step.moved;
    named.larger_than = Bytes(0);
    named.keep_last = 0;
    with_moves.activations = std::move(named);
  }
  step.program = plan(step.graph, run.training, with_moves, run.machine);
  return step;
}

std::string_view name_of(const PlannedStep& step, const Buffer& buffer) {
  NameId name = buffer.name;
  if (buffer.tensor != kNoTensor) name = step.graph.tensor(buffer.tensor).name;
  return index(name) == kNoIndex ? std::string_view() : step.graph.name(name);
}

std::vector<sim::KeptBuffer> carried_over(const PlannedStep& before,
                                          std::span<const sim::KeptBuffer> kept,
                                          const PlannedStep& next,
                                          std::vector<sim::KeptBuffer>& left) {
  const auto key = [](const PlannedStep& step, const Buffer& buffer) {
    return std::tuple(name_of(step, buffer), buffer.tier, buffer.bytes);
  };
  std::map<std::tuple<std::string_view, Tier, Bytes>, std::deque<sim::KeptBuffer>> found;
  for (const sim::KeptBuffer& buffer : kept) {
    found[key(before, before.program.buffers[index(buffer.buffer)])].push_back(buffer);
  }
  std::vector<sim::KeptBuffer> carried;
  for (std::uint32_t b = 0; b < next.program.buffers.size(); ++b) {
    const Buffer& buffer = next.program.buffers[b];
    if (!buffer.initial) continue;
    const auto same = found.find(key(next, buffer));
    if (same == found.end() || same->second.empty()) continue;
    carried.push_back({BufferId{b}, same->second.front().handle});
    same->second.pop_front();
  }
  for (const auto& [name, rest] : found) left.insert(left.end(), rest.begin(), rest.end());
  return carried;
}

Steps::Steps(const scenarios::RunSpec& run) : run_(run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  ensure(policy != nullptr, "the loader should have refused an unknown policy");
  if (policy->planner != nullptr) {
    *this = Placer(planning_base(run), run).place(run);
    return;
  }
  *this = Steps(run, lower_run(run, StepKind::kFirst), lower_run(run, StepKind::kSteady), nullptr);
}

Steps::Steps(const scenarios::RunSpec& run, StepGraph first, StepGraph steady,
             std::shared_ptr<const PlacementNote> note, MovedTensors moved)
    : run_(run), note_(std::move(note)) {
  const Offload offload = with_hidden_moves(run, steady);
  first_ = plan_step(run, std::move(first), offload, std::move(moved.first));
  steady_ = plan_step(run, std::move(steady), offload, std::move(moved.steady));
}

Steps Steps::on(const Machine& machine) const {
  scenarios::RunSpec run = run_;
  run.machine = machine;
  return {run, as_lowered(first_), as_lowered(steady_), note_, {first_.moved, steady_.moved}};
}

PlayedSteps Steps::play(const scenarios::AllocatorChoice& choice, sim::Capacity capacity,
                        StepWatch* watch) const {
  return play_steps(choice, capacity, true, watch);
}

std::optional<sim::Result> Steps::play_steady(const scenarios::AllocatorChoice& choice,
                                              sim::Capacity capacity) const {
  return play_steps(choice, capacity, false, nullptr).steady;
}

Bytes reserved_peak(const Program& program, const sim::Result& result, Tier tier,
                    bool keeps_cache) {
  Bytes sum = result.allocators[static_cast<std::size_t>(tier)].end.reserved_peak;
  if (!keeps_cache || tier != Tier::kHbm) return sum;
  for (const Buffer& buffer : program.buffers) {  // that the allocator has no part in
    if (buffer.tier == tier && sim::is_set_aside(buffer)) sum += buffer.bytes;
  }
  return sum;
}

PlayedSteps Steps::play_steps(const scenarios::AllocatorChoice& choice, sim::Capacity capacity,
                              bool needs_first, StepWatch* watch) const {
  const sim::AllocatorKind* kind = sim::find_allocator(choice.kind);
  ensure(kind != nullptr, "the loader should have refused an unknown allocator");
  if (kind->make == nullptr) {
    PlayedSteps placed;
    if (needs_first) placed.first = play_in_place(first_.program, capacity, choice.settings);
    placed.steady = play_in_place(steady_.program, capacity, choice.settings);
    placed.later_steps = 1;
    return placed;
  }
  const bool limited = capacity == sim::Capacity::kEnforced;
  std::unique_ptr<sim::Allocator> hbm;
  sim::SimulateOptions options;
  options.capacity = capacity;
  const auto empty_hbm = [&] {
    hbm.reset();
    if (limited || kind->keeps_cache) {
      hbm = kind->make(limited ? first_.program.capacity[kHbm] : kPlenty, choice.settings);
    }
    options.allocators[kHbm] = hbm.get();
  };

  const auto simulate = [&](const PlannedStep& step) {
    if (watch == nullptr || hbm == nullptr) return sim::simulate(step.program, options);
    options.allocators[kHbm] = watch->before(*hbm, step, options.carried);
    sim::Result result = sim::simulate(step.program, options);
    options.allocators[kHbm] = hbm.get();
    watch->after(result);
    return result;
  };

  PlayedSteps played;
  empty_hbm();
  if (needs_first || kind->keeps_cache) played.first = simulate(first_);
  if (!kind->keeps_cache) {
    empty_hbm();
    played.steady = sim::simulate(steady_.program, options);
    played.later_steps = 1;
    return played;
  }
  const PlannedStep* before = &first_;
  std::vector<sim::KeptBuffer> kept = played.first.kept;
  while (!played.first.out_of_memory && played.later_steps < kMostLaterSteps) {
    std::vector<sim::KeptBuffer> left;
    const std::vector<sim::KeptBuffer> carried = carried_over(*before, kept, steady_, left);
    for (const sim::KeptBuffer& buffer : left) hbm->free(buffer.handle);
    options.carried = carried;
    played.steady = simulate(steady_);
    ++played.later_steps;
    if (played.steady->out_of_memory || !asked_the_driver(*played.steady)) break;
    kept = played.steady->kept;
    before = &steady_;
  }
  return played;
}

}  // namespace tidemark::tools
