#include "tools/validation/metric.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "hardware/ensure.hpp"
#include "sim/account.hpp"

namespace tidemark::tools {
namespace {

constexpr auto kHbm = static_cast<std::size_t>(Tier::kHbm);

double seconds_of_step(SimulatedRun& run) { return seconds(run.live().steady->end); }

double samples(const scenarios::RunSpec& run) {
  return static_cast<double>(run.training.micro_batch * run.training.micro_batches);
}

double samples_per_second(SimulatedRun& run) { return samples(run.run()) / seconds_of_step(run); }

double tokens_per_second(SimulatedRun& run) {
  return samples_per_second(run) * static_cast<double>(run.run().training.sequence);
}

// When the last kernel of the phases up to `last` has finished.
SimTime finish_of(SimulatedRun& run, Phase last) {
  const PlannedStep& step = run.steps().steady();
  const sim::Result& result = *run.live().steady;
  SimTime finish{};
  for (const InstanceId i : step.program.order[static_cast<std::size_t>(Stream::kCompute)]) {
    const Phase phase = step.program.instances[index(i)].phase;
    if (phase <= last) finish = std::max(finish, result.records[index(i)].finish);
  }
  return finish;
}

double forward_time(SimulatedRun& run) { return seconds(finish_of(run, Phase::kForward)); }
double iteration_time(SimulatedRun& run) { return seconds(finish_of(run, Phase::kBackward)); }
double backward_time(SimulatedRun& run) { return iteration_time(run) - forward_time(run); }
double optimizer_time(SimulatedRun& run) { return seconds_of_step(run) - iteration_time(run); }

// All blocks in some phases, shared out evenly: the blocks of a network are the same. What the GPU
// waits for before a kernel (its launch) counts with it.
struct BlockSum {
  double seconds = 0;
  double matmul_flops = 0;
};

// Kernels of some parts of the network in one phase.
double time_in(SimulatedRun& run, Phase phase, std::initializer_list<Module> modules) {
  const PlannedStep& step = run.steps().steady();
  const sim::Result& result = *run.live().steady;
  SimTime sum{};
  for (const InstanceId i : step.program.order[static_cast<std::size_t>(Stream::kCompute)]) {
    const Instance& instance = step.program.instances[index(i)];
    if (instance.op == kNoOp || instance.phase != phase) continue;
    const Module module = step.graph.op(instance.op).module;
    if (std::ranges::find(modules, module) == modules.end()) continue;
    sum += result.records[index(i)].finish - result.records[index(i)].start;
  }
  return seconds(sum);
}

// The norms of blocks: two each.
template <Phase kPhase>
double norm_time(SimulatedRun& run) {
  return time_in(run, kPhase, {Module::kNorm}) / static_cast<double>(2 * run.run().model.layers);
}

template <Phase kPhase>
double rotary_time(SimulatedRun& run) {
  return time_in(run, kPhase, {Module::kRotary}) / static_cast<double>(run.run().model.layers);
}

double mlp_forward_time(SimulatedRun& run) {
  return time_in(run, Phase::kForward, {Module::kMlpIn, Module::kMlpActivation, Module::kMlpOut}) /
         static_cast<double>(run.run().model.layers);
}

double head_forward_time(SimulatedRun& run) {
  return time_in(run, Phase::kForward, {Module::kHead, Module::kLoss});
}
double head_time(SimulatedRun& run) {
  return head_forward_time(run) + time_in(run, Phase::kBackward, {Module::kHead, Module::kLoss});
}

BlockSum block(SimulatedRun& run, std::initializer_list<Phase> phases) {
  const PlannedStep& step = run.steps().steady();
  const sim::Result& result = *run.live().steady;
  BlockSum sum;
  SimTime before{};  // when the kernel before this one finished
  for (const InstanceId i : step.program.order[static_cast<std::size_t>(Stream::kCompute)]) {
    const Instance& instance = step.program.instances[index(i)];
    const SimTime span = result.records[index(i)].finish - before;
    before += span;
    if (instance.op == kNoOp || instance.layer < 0) continue;
    if (std::ranges::find(phases, instance.phase) == phases.end()) continue;
    sum.seconds += seconds(span);
    const Op& op = step.graph.op(instance.op);
    const bool matmul = op.work == WorkClass::kMatmul || op.work == WorkClass::kAttention ||
                        op.work == WorkClass::kAttentionBackward;
    if (matmul) sum.matmul_flops += static_cast<double>(op.flops.count);
  }
  const double blocks = static_cast<double>(run.run().model.layers);
  return {sum.seconds / blocks, sum.matmul_flops / blocks};
}

double block_forward_time(SimulatedRun& run) { return block(run, {Phase::kForward}).seconds; }

double block_backward_time(SimulatedRun& run) {
  return block(run, {Phase::kRecompute, Phase::kBackward}).seconds;
}

double block_forward_rate(SimulatedRun& run) {
  const BlockSum sum = block(run, {Phase::kForward});
  return sum.matmul_flops / sum.seconds;
}

// Three forwards over the time of forward and backward, as benchmarks count it.
double block_rate(SimulatedRun& run) {
  return 3 * block(run, {Phase::kForward}).matmul_flops /
         (block_forward_time(run) + block_backward_time(run));
}

double bytes(Bytes count) { return static_cast<double>(count.count); }

Bytes peak_in(const PlannedStep& step, const sim::Result& result) {
  return sim::account(step.program, result, 0).tiers[kHbm].peak.level.total;
}

// Over both steps, as a peak that is never reset; the context is no allocation.
double peak_allocated(SimulatedRun& run) {
  const PlayedSteps& played = run.live();
  const Bytes peak = std::max(peak_in(run.steps().first(), played.first),
                              peak_in(run.steps().steady(), *played.steady));
  return bytes(peak - run.run().machine.runtime.context);
}

double first_step_peak_allocated(SimulatedRun& run) {
  const Bytes peak = peak_in(run.steps().first(), run.live().first);
  return bytes(peak - run.run().machine.runtime.context);
}

double first_step_peak_reserved(SimulatedRun& run) {
  return bytes(run.caching().first.allocators[kHbm].end.reserved_peak);
}

double allocated_between_steps(SimulatedRun& run) {
  const sim::Account account = sim::account(run.steps().steady().program, *run.live().steady, 0);
  return bytes(account.tiers[kHbm].end.total - run.run().machine.runtime.context);
}

double peak_reserved(SimulatedRun& run) {
  const PlayedSteps& played = run.caching();
  const auto reserved = [](const sim::Result& result) {
    return result.allocators[kHbm].end.reserved_peak;
  };
  return bytes(std::max(reserved(played.first), reserved(*played.steady)));
}

double driver_used(SimulatedRun& run) {
  return peak_reserved(run) + bytes(run.run().machine.runtime.context);
}

// What forward leaves for backward, the logits included.
double retained_after_forward(SimulatedRun& run) {
  const sim::Account account = sim::account(run.steps().steady().program, *run.live().steady, 0);
  const sim::TierAccount& hbm = account.tiers[kHbm];
  const auto& after = hbm.live_after[static_cast<std::size_t>(sim::StepPart::kForward)];
  return after ? bytes(after->total - hbm.start.total) : 0;
}

double fits(SimulatedRun& run) { return run.fits() ? 1 : 0; }

double time_of(const Machine& machine, const ComponentWork& work) {
  return seconds(component_time(machine, work));
}
double flop_rate(const Machine& machine, const ComponentWork& work) {
  return static_cast<double>(component_flops(work).count) / time_of(machine, work);
}
double bandwidth(const Machine& machine, const ComponentWork& work) {
  return bytes(component_bytes(work)) / time_of(machine, work);
}

constexpr OptionSpec time_named(std::string_view name, std::string_view text) {
  return {.name = name, .kind = OptionKind::kTime, .text = text};
}
constexpr OptionSpec bytes_named(std::string_view name, std::string_view text) {
  return {.name = name, .kind = OptionKind::kBytes, .text = text};
}
constexpr OptionSpec number_named(std::string_view name, std::string_view text) {
  return {.name = name, .kind = OptionKind::kNumber, .text = text};
}
constexpr OptionSpec rate_named(std::string_view name, std::string_view text) {
  return {.name = name, .kind = OptionKind::kFlopRate, .text = text};
}

using enum FigureKind;

constexpr auto kMetrics = std::to_array<Metric>({
    {time_named("time", "of one kernel, copy or file access"), kComponent, nullptr, time_of},
    {rate_named("flop_rate", "2mnk over the time of a matrix product"), kComponent, nullptr,
     flop_rate},
    {{.name = "bandwidth", .kind = OptionKind::kBandwidth, .text = "bytes over time"},
     kComponent,
     nullptr,
     bandwidth},
    {time_named("kernels_time", "of kernels one after the other"), kBlock, nullptr, time_of},
    {time_named("block_forward_time", "kernels of one block in forward"), kBlock,
     block_forward_time},
    {time_named("block_backward_time", "kernels of one block in backward, recompute included"),
     kBlock, block_backward_time},
    {rate_named("block_forward_rate", "a block's matrix products over its forward time"), kBlock,
     block_forward_rate},
    {rate_named("block_rate", "three times its matrix products over forward and backward"), kBlock,
     block_rate},
    {time_named("norm_forward_time", "kernels of one norm"), kBlock, norm_time<Phase::kForward>},
    {time_named("norm_backward_time", "the same in backward"), kBlock, norm_time<Phase::kBackward>},
    {time_named("rotary_forward_time", "kernels that turn the queries and keys of a block"), kBlock,
     rotary_time<Phase::kForward>},
    {time_named("rotary_backward_time", "the same in backward"), kBlock,
     rotary_time<Phase::kBackward>},
    {time_named("mlp_forward_time", "kernels of one MLP, its residual sum included"), kBlock,
     mlp_forward_time},
    {time_named("head_forward_time", "the last norm, the logits and the loss"), kBlock,
     head_forward_time},
    {time_named("head_time", "the same, forward and backward"), kBlock, head_time},
    {time_named("step_time", "forward, backward and optimizer"), kStep, seconds_of_step},
    {number_named("samples_per_second", "sequences of a step over its time"), kStep,
     samples_per_second},
    {number_named("tokens_per_second", "tokens of a step over its time"), kStep, tokens_per_second},
    {time_named("forward_time", "until the last kernel of forward has finished"), kStep,
     forward_time},
    {time_named("backward_time", "from there to the last kernel of backward"), kStep,
     backward_time},
    {time_named("iteration_time", "forward and backward, without the optimizer"), kStep,
     iteration_time},
    {time_named("optimizer_time", "from the end of backward to the end of the step"), kStep,
     optimizer_time},
    {bytes_named("peak_allocated", "most live bytes of any step, without the CUDA context"),
     kMemory, peak_allocated},
    {bytes_named("first_step_peak_allocated", "the same of the step that makes optimizer states"),
     kMemory, first_step_peak_allocated},
    {bytes_named("first_step_peak_reserved", "what the caching allocator takes in that step"),
     kMemory, first_step_peak_reserved},
    {bytes_named("peak_reserved", "most that the caching allocator takes from the driver"), kMemory,
     peak_reserved},
    {bytes_named("driver_used", "the same with the CUDA context"), kMemory, driver_used},
    {bytes_named("allocated_between_steps", "live bytes at the end of a step"), kMemory,
     allocated_between_steps},
    {bytes_named("retained_after_forward", "live bytes when forward ends, less those before it"),
     kMemory, retained_after_forward},
    {{.name = "fits", .kind = OptionKind::kFlag, .text = "whether PyTorch's allocator finds room"},
     kMemory,
     fits},
});

}  // namespace

SimulatedRun::SimulatedRun(scenarios::RunSpec run) : run_(std::move(run)), steps_(run_) {}

const PlayedSteps& SimulatedRun::live() {
  if (!live_) live_ = steps_.play({}, sim::Capacity::kIgnored);
  return *live_;
}

const PlayedSteps& SimulatedRun::caching() {
  if (!caching_) {
    caching_ = steps_.play({"caching", run_.allocator.settings}, sim::Capacity::kIgnored);
  }
  return *caching_;
}

bool SimulatedRun::fits() {
  return steps_.play({"caching", run_.allocator.settings}, sim::Capacity::kEnforced).fits();
}

std::span<const Metric> metrics() { return kMetrics; }

}  // namespace tidemark::tools
