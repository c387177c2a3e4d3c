#include "graph/optimizer_offload.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "graph/buckets.hpp"
#include "graph/cpu_optimizer.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

OpId last_of_backward(const StepGraph& graph) {
  for (auto op = static_cast<std::uint32_t>(graph.op_count()); op-- > 0;) {
    if (graph.ops[op].phase == Phase::kBackward) return OpId{op};
  }
  return kNoOp;
}

class OptimizerOffload {
 public:
  OptimizerOffload(ProgramBuilder& builder, StepGraph& graph, const TrainingConfig& training,
                   const Offload& offload, const Machine& machine, const MachinePaths& paths)
      : builder_(builder),
        graph_(graph),
        optimizer_(cpu_optimizer(training)),
        offload_(offload),
        machine_(machine),
        paths_(paths),
        buckets_(gradient_buckets(graph, offload.bucket)),
        on_ssd_(offload.optimizer == Offload::States::kSsd) {
    ensure(offload.buffers > 0, "there is a buffer for states");
    if (offload.gradients_leave == Offload::GradientsLeave::kAfterBackward) {
      gradients_leave_after_ = last_of_backward(graph);
    }
  }

  void add() {
    keep_states();
    for (std::size_t i = 0; i < buckets_.size(); ++i) add_bucket(i);
  }

 private:
  NameId name(std::string text) {
    graph_.names.push_back(std::move(text));
    return NameId{static_cast<std::uint32_t>(graph_.names.size() - 1)};
  }

  Bytes kept(const Bucket& bucket) const {
    return Bytes(bucket.elements * optimizer_.kept_bytes());
  }

  void keep(Tier tier, Category category, Bytes bytes, std::string text) {
    if (bytes.count == 0) return;
    builder_.add_buffer({.bytes = bytes,
                         .tier = tier,
                         .category = category,
                         .initial = true,
                         .persistent = true,
                         .name = name(std::move(text))});
  }

  void keep_states() {
    std::int64_t elements = 0;
    Bytes largest;
    for (const Bucket& bucket : buckets_) {
      elements += bucket.elements;
      largest = std::max(largest, kept(bucket));
    }
    const Tier tier = on_ssd_ ? Tier::kSsd : Tier::kHost;
    const std::string where = on_ssd_ ? " on the SSD" : " on the host";
    keep(tier, Category::kMasterWeights, Bytes(elements * optimizer_.master_bytes),
         "master weights" + where);
    keep(tier, Category::kOptimizerState, Bytes(elements * optimizer_.state_bytes),
         "optimizer states" + where);
    if (!on_ssd_) return;
    const std::size_t count = std::min(static_cast<std::size_t>(offload_.buffers), buckets_.size());
    for (std::size_t i = 0; i < count; ++i) {
      pool_.push_back(builder_.add_buffer({.bytes = largest,
                                           .tier = Tier::kHost,
                                           .category = Category::kStaging,
                                           .initial = true,
                                           .persistent = true,
                                           .name = name("state buffer " + std::to_string(i))}));
      pool_free_after_.emplace_back();
    }
  }

  BufferId host_buffer(Category category, Bytes bytes, std::string text) {
    return builder_.add_buffer(
        {.bytes = bytes, .tier = Tier::kHost, .category = category, .name = name(std::move(text))});
  }

  InstanceId transfer(Stream stream, PathId path, SimTime latency, Bytes bytes, std::string text) {
    ensure(path != kNoPath, "the machine has the links that the offload needs");
    return builder_.add_instance({.stream = stream,
                                  .phase = Phase::kTransfer,
                                  .name = name(std::move(text)),
                                  .path = path,
                                  .fixed = latency,
                                  .bytes = bytes});
  }

  void after_op(InstanceId instance, OpId op) {
    if (op != kNoOp) builder_.depend(instance, InstanceId{index(op)});
  }

  void add_bucket(std::size_t i) {
    const Bucket& bucket = buckets_[i];
    const std::string of_bucket = " of bucket " + std::to_string(i);
    const auto [copy_out, gradients] = add_gradients_out(bucket, of_bucket);
    // States on the SSD: host memory is for buffers only, so gradients wait in HBM for a free one.
    if (on_ssd_ && i >= pool_.size()) builder_.depend(copy_out, updates_[i - pool_.size()]);

    const std::size_t slot = on_ssd_ ? i % pool_.size() : 0;
    std::optional<InstanceId> read;
    if (on_ssd_) read = add_states_in(bucket, of_bucket, slot);

    const InstanceId update = add_update(bucket, of_bucket);
    updates_.push_back(update);
    builder_.depend(update, copy_out);
    builder_.use(update, gradients);
    if (read) {
      builder_.depend(update, *read);
      builder_.use(update, pool_[slot]);
    }

    const InstanceId copy_in = add_parameters_in(bucket, of_bucket, update, slot);
    if (on_ssd_) add_states_out(bucket, of_bucket, slot, update, copy_in);
  }

  std::pair<InstanceId, BufferId> add_gradients_out(const Bucket& bucket,
                                                    const std::string& of_bucket) {
    const BufferId host =
        host_buffer(Category::kGradients, bucket.gradients, "gradients" + of_bucket);
    const InstanceId copy = transfer(Stream::kCopyOut, paths_.d2h, machine_.pcie.latency,
                                     bucket.gradients, "gradients" + of_bucket + " to the host");
    after_op(copy, bucket.ready);
    after_op(copy, gradients_leave_after_);
    if (bucket.overwritten != kNoOp) builder_.depend(InstanceId{index(bucket.overwritten)}, copy);
    for (const std::uint32_t p : bucket.parameters) {
      builder_.use(copy, BufferId{index(graph_.parameters[p].gradient)});
    }
    builder_.use(copy, host);
    return {copy, host};
  }

  InstanceId add_states_in(const Bucket& bucket, const std::string& of_bucket, std::size_t slot) {
    const InstanceId read = transfer(Stream::kNvmeRead, paths_.nvme_read, machine_.ssd.latency,
                                     kept(bucket), "states" + of_bucket + " from the SSD");
    builder_.use(read, pool_[slot]);
    for (const InstanceId before : pool_free_after_[slot]) builder_.depend(read, before);
    return read;
  }

  InstanceId add_update(const Bucket& bucket, const std::string& of_bucket) {
    const Bytes streamed = bucket.gradients + kept(bucket) * 2 +
                           (optimizer_.rounds_parameters ? bucket.weights : Bytes(0));
    return builder_.add_instance({.stream = Stream::kCpuOptimizer,
                                  .phase = Phase::kOptimizer,
                                  .name = name("update" + of_bucket),
                                  .path = cpu_path(bucket, streamed),
                                  .bytes = streamed});
  }

  // The compute bound as a rate of streaming: bytes x FLOP/s / FLOPs.
  PathId cpu_path(const Bucket& bucket, Bytes streamed) {
    ensure(machine_.host.bandwidth.count > 0, "a host that updates parameters has DRAM bandwidth");
    Bandwidth cap;
    if (machine_.host.cpu_optimizer.count > 0 && bucket.elements > 0) {
      const Int128 rate = static_cast<Int128>(streamed.count) * machine_.host.cpu_optimizer.count /
                          (static_cast<Int128>(bucket.elements) * optimizer_.flops);
      constexpr Int128 most = std::numeric_limits<std::int64_t>::max() / 4;
      cap = Bandwidth(static_cast<std::int64_t>(std::clamp<Int128>(rate, 1, most)));
    }
    if (cpu_path_ == kNoPath || cap != cpu_cap_) {
      cpu_path_ = add_cpu_path(builder_, cap);
      cpu_cap_ = cap;
    }
    return cpu_path_;
  }

  InstanceId add_parameters_in(const Bucket& bucket, const std::string& of_bucket,
                               InstanceId update, std::size_t slot) {
    const InstanceId copy = transfer(Stream::kCopyIn, paths_.h2d, machine_.pcie.latency,
                                     bucket.weights, "parameters" + of_bucket + " to the GPU");
    builder_.depend(copy, update);
    after_op(copy, bucket.last_read);
    for (const std::uint32_t p : bucket.parameters) {
      builder_.use(copy, BufferId{index(graph_.parameters[p].weight)});
    }
    if (optimizer_.rounds_parameters) {
      const BufferId rounded =
          host_buffer(Category::kStaging, bucket.weights, "parameters" + of_bucket);
      builder_.use(update, rounded);
      builder_.use(copy, rounded);
    } else if (on_ssd_) {
      builder_.use(copy, pool_[slot]);
    }
    return copy;
  }

  void add_states_out(const Bucket& bucket, const std::string& of_bucket, std::size_t slot,
                      InstanceId update, InstanceId copy_in) {
    const InstanceId write = transfer(Stream::kNvmeWrite, paths_.nvme_write, machine_.ssd.latency,
                                      kept(bucket), "states" + of_bucket + " to the SSD");
    builder_.depend(write, update);
    builder_.use(write, pool_[slot]);
    pool_free_after_[slot] = {write};
    if (!optimizer_.rounds_parameters) pool_free_after_[slot].push_back(copy_in);
  }

  ProgramBuilder& builder_;
  StepGraph& graph_;
  CpuOptimizer optimizer_;
  const Offload& offload_;
  const Machine& machine_;
  const MachinePaths& paths_;
  std::vector<Bucket> buckets_;
  bool on_ssd_;
  OpId gradients_leave_after_ = kNoOp;
  std::vector<BufferId> pool_;
  std::vector<InstanceId> updates_;  // by bucket
  std::vector<std::vector<InstanceId>> pool_free_after_;  // by slot
  PathId cpu_path_ = kNoPath;
  Bandwidth cpu_cap_;
};

}  // namespace

void offload_optimizer(ProgramBuilder& builder, StepGraph& graph, const TrainingConfig& training,
                       const Offload& offload, const Machine& machine, const MachinePaths& paths) {
  OptimizerOffload(builder, graph, training, offload, machine, paths).add();
}

}  // namespace tidemark
