#include "tools/report.hpp"

#include <algorithm>

#include "graph/lower_bound.hpp"
#include "graph/op_kind.hpp"
#include "hardware/ensure.hpp"
#include "hardware/nvme_array.hpp"
#include "hardware/rates.hpp"
#include "sim/account.hpp"
#include "sim/allocators/out_of_memory.hpp"
#include "sim/allocators/table.hpp"
#include "sim/options.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {
namespace {

bool is_matmul(const Op& op) {
  return op.work == WorkClass::kMatmul || op.work == WorkClass::kAttention ||
         op.work == WorkClass::kAttentionBackward;
}

// Autocast's 16-bit copy of a weight: it grows with the model, not with the batch.
bool is_weight_cast(const StepGraph& graph, const Tensor& tensor) {
  if (graph.op(tensor.producer).kind != OpKind::kToCopy) return false;
  const Tensor& source = graph.tensor(graph.inputs_of(tensor.producer).front());
  return source.initial() && source.category == Category::kParameters;
}

// Bytes that blocks keep from forward to backward, casts of weights left out: the median over the
// blocks that keep any (a checkpointed block keeps nothing but its segment's end). Of the first
// micro-batch, which is the one before the first op of backward.
Bytes saved_per_layer(const StepGraph& graph, std::int64_t layers) {
  if (layers <= 0) return Bytes(0);
  const auto first_backward = static_cast<std::uint32_t>(
      std::distance(graph.ops.begin(),
                    std::ranges::find_if(graph.ops.begin(), graph.ops.end() - 1, [](const Op& op) {
                      return op.phase == Phase::kRecompute || op.phase == Phase::kBackward;
                    })));
  std::vector<Bytes> sums(static_cast<std::size_t>(layers));
  for (const Tensor& tensor : graph.tensors) {
    if (!tensor.saved || tensor.initial() || tensor.layer < 0) continue;
    if (index(tensor.producer) >= first_backward) continue;
    if (is_weight_cast(graph, tensor)) continue;
    sums[static_cast<std::size_t>(tensor.layer)] += tensor.bytes;
  }
  std::erase(sums, Bytes(0));
  if (sums.empty()) return Bytes(0);
  std::ranges::sort(sums);
  const std::size_t middle = sums.size() / 2;
  if (sums.size() % 2 == 1) return sums[middle];
  return Bytes((sums[middle - 1].count + sums[middle].count) / 2);
}

const sim::AllocatorRecord& record_of(const PlayedStep& step, Tier tier) {
  return step.whole().allocators[static_cast<std::size_t>(tier)];
}

AllocatorReport describe_allocator(const scenarios::RunSpec& run, const PlayedStep& steady,
                                   const PlayedStep& first) {
  AllocatorReport report;
  report.kind = run.allocator.kind;
  const sim::AllocatorKind* kind = sim::find_allocator(run.allocator.kind);
  report.keeps_cache = kind != nullptr && kind->keeps_cache;
  report.steady = figures_of(record_of(steady, Tier::kHbm));
  report.first_step = figures_of(record_of(first, Tier::kHbm));
  return report;
}

// Of the step that ran out of memory.
OutOfMemoryReport why_out_of_memory(const PlayedStep& step) {
  const sim::OutOfMemory& oom = *step.limited.out_of_memory;
  OutOfMemoryReport report;
  report.tier = oom.tier;
  report.buffer = name_of(step, oom.buffer);
  if (oom.instance != kNoInstance) {
    const Instance& instance = step.program.instances[index(oom.instance)];
    report.op = name_of(step, oom.instance);
    report.phase = instance.phase;
    report.layer = instance.layer;
  }
  report.requested = oom.requested;
  report.free = oom.free;
  if (oom.failure) report.message = sim::pytorch_message(*oom.failure);
  const auto tier = static_cast<std::size_t>(oom.tier);
  const auto& placement = step.limited.allocators[tier].placement;
  if (placement && placement->end > step.program.capacity[tier]) report.placed = *placement;
  return report;
}

Peak describe(const PlayedStep& step, const sim::Peak& found) {
  Peak peak;
  peak.time = found.time;
  peak.by_category = found.level.by_category;
  if (found.instance != kNoInstance) {
    const Instance& instance = step.program.instances[index(found.instance)];
    peak.op = name_of(step, found.instance);
    peak.phase = instance.phase;
    peak.layer = instance.layer;
  }
  std::vector<InstanceId> made_by(step.program.buffers.size(), kNoInstance);
  std::vector<InstanceId> freed_by(step.program.buffers.size(), kNoInstance);
  for (const sim::MemoryEvent& event : step.whole().memory) {
    (event.allocated ? made_by : freed_by)[index(event.buffer)] = event.instance;
  }
  for (const BufferId id : found.largest) {
    const Buffer& buffer = step.program.buffers[index(id)];
    Alive alive;
    alive.name = name_of(step, id);
    alive.bytes = buffer.bytes;
    alive.category = buffer.category;
    const InstanceId maker = made_by[index(id)];
    const InstanceId last = freed_by[index(id)];
    if (buffer.tensor != kNoTensor) alive.layer = step.graph.tensor(buffer.tensor).layer;
    if (maker != kNoInstance) {
      alive.made_by = name_of(step, maker);
      alive.made_in = step.program.instances[index(maker)].phase;
    }
    if (last != kNoInstance) {
      alive.freed_by = name_of(step, last);
      alive.freed_in = step.program.instances[index(last)].phase;
    }
    peak.largest.push_back(std::move(alive));
  }
  return peak;
}

TierReport describe(const PlayedStep& step, Tier tier, const sim::TierAccount& account,
                    const sim::TierAccount& first, Bytes reserved) {
  TierReport report;
  report.capacity = step.program.capacity[static_cast<std::size_t>(tier)];
  report.peak = account.peak.level.total;
  report.peak_reserved = reserved;
  report.start = account.start.total;
  report.end = account.end.total;
  // A part without kernels (an optimizer that runs elsewhere) leaves what the step leaves, and its
  // peak is what the part before it left.
  Bytes before = report.start;
  for (std::size_t p = 0; p < sim::kStepPartCount; ++p) {
    report.live_after[p] = account.live_after[p] ? account.live_after[p]->total : report.end;
    report.phase_peaks[p] = account.phase_peak[p].value_or(before);
    before = report.live_after[p];
  }
  report.first_step_peak = first.peak.level.total;
  report.peak_moment = describe(step, account.peak);
  return report;
}

void describe_time(const scenarios::RunSpec& run, const PlayedStep& step,
                   const sim::Account& account, Report& report) {
  const StepGraph& graph = step.graph;
  const sim::Result& result = step.whole();
  report.step_time = result.end;
  report.lower_bound = step_lower_bound(step.program);
  report.update_delay = run.offload.delayed_update ? 1 : 0;
  report.tokens = run.training.micro_batch * run.training.sequence * run.training.micro_batches;
  report.parameters = graph.parameter_count;
  report.model_flops = graph.model_flops;
  report.compute_busy = result.compute_busy;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (is_matmul(graph.ops[i])) report.hardware_flops += graph.ops[i].flops;
  }
  for (const InstanceId i : step.program.order[static_cast<std::size_t>(Stream::kCompute)]) {
    const Instance& instance = step.program.instances[index(i)];
    if (instance.op == kNoOp || !is_matmul(graph.op(instance.op))) continue;
    report.matmul += result.records[index(i)].finish - result.records[index(i)].start;
  }
  report.recompute = account.recompute;
  report.waste = recompute_waste(graph, step.program, run.checkpointing.segments, run.model.layers);
  report.stalls = account.stalled;
  report.traffic = result.moved;
  report.critical_path = limits_of(graph, step.program, result, run.machine.gpu);
  report.update_pace = update_pace(step.program, run.machine.host);
  report.days_to_rated_writes = days_to_rated_writes(
      run.machine.ssd, report.traffic[static_cast<std::size_t>(LinkKind::kNvmeWrite)],
      report.step_time);

  const bool tf32 = run.kernels.fp32_matmul == Kernels::Fp32Matmul::kTf32;
  const Arithmetic arithmetic = run.training.precision != Precision::kFp32 ? Arithmetic::k16Bit
                                : tf32                                     ? Arithmetic::kTf32
                                                                           : Arithmetic::k32Bit;
  const FlopRate peak = matmul_peak(run.machine.gpu, arithmetic);
  const double time = seconds(report.step_time);
  if (time > 0) {
    report.tokens_per_second = static_cast<double>(report.tokens) / time;
    report.mfu =
        static_cast<double>(report.model_flops.count) / (time * static_cast<double>(peak.count));
  }
}

}  // namespace

std::string_view name_of(const PlayedStep& step, InstanceId instance) {
  const Instance& what = step.program.instances[index(instance)];
  if (what.op != kNoOp) return name_of(step.graph.op(what.op).kind);
  if (index(what.name) == kNoIndex) return name_of(what.stream);
  return step.graph.name(what.name);
}

std::string_view name_of(const PlayedStep& step, BufferId id) {
  const Buffer& buffer = step.program.buffers[index(id)];
  NameId name = buffer.name;
  if (buffer.tensor != kNoTensor) name = step.graph.tensor(buffer.tensor).name;
  return index(name) == kNoIndex ? name_of(buffer.category) : step.graph.name(name);
}

SimTime Report::stalled() const {
  SimTime sum{};
  for (const SimTime stall : stalls) sum += stall;
  return sum;
}

Report make_report(const scenarios::RunSpec& run, const PlayedStep& steady, const PlayedStep& first,
                   const ReportOptions& options) {
  Report report;
  report.strategy = run.strategy;
  report.point = run.point;
  report.allocator = describe_allocator(run, steady, first);
  const sim::Account account = sim::account(steady.program, steady.whole(), options.largest);
  const sim::Account first_account = sim::account(first.program, first.whole(), 0);
  // Training starts with the first step, so its failure is the one that users meet.
  const PlayedStep& failing = first.limited.out_of_memory ? first : steady;
  if (failing.limited.out_of_memory) {
    report.out_of_memory = why_out_of_memory(failing);
    OutOfMemoryReport& oom = *report.out_of_memory;
    const auto tier = static_cast<std::size_t>(oom.tier);
    oom.first_step = &failing == &first;
    oom.needed_live =
        std::max(account.tiers[tier].peak.level.total, first_account.tiers[tier].peak.level.total);
    oom.needed = std::max(
        reserved_peak(steady.program, steady.whole(), oom.tier, report.allocator.keeps_cache),
        reserved_peak(first.program, first.whole(), oom.tier, report.allocator.keeps_cache));
    if (oom.placed) oom.needed = std::max(oom.needed, oom.placed->end);
  }
  describe_time(run, steady, account, report);
  ensure(report.compute_busy + report.stalled() == report.step_time,
         "the GPU's busy time and stalls should add up to the step");
  for (std::size_t t = 0; t < report.tiers.size(); ++t) {
    const auto tier = static_cast<Tier>(t);
    report.tiers[t] =
        describe(steady, tier, account.tiers[t], first_account.tiers[t],
                 reserved_peak(steady.program, steady.whole(), tier, report.allocator.keeps_cache));
  }
  report.tiers[static_cast<std::size_t>(Tier::kHbm)].saved_per_layer =
      saved_per_layer(steady.graph, run.model.layers);
  report.profile = make_profile(steady.program, steady.whole(), options.columns);
  report.bottleneck = bottleneck_of(report);
  return report;
}

}  // namespace tidemark::tools
