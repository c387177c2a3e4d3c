#include "graph/offload/optimizer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/buckets.hpp"
#include "graph/offload/cpu_update.hpp"
#include "graph/offload/pool.hpp"
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
  OptimizerOffload(Mover& mover, const TrainingConfig& training, const Offload& offload)
      : mover_(mover),
        cpu_(mover, training),
        offload_(offload),
        buckets_(gradient_buckets(mover.graph(), offload.bucket)),
        on_ssd_(offload.optimizer == Offload::States::kSsd) {
    if (offload.gradients_leave == Offload::GradientsLeave::kAfterBackward) {
      gradients_leave_after_ = last_of_backward(mover.graph());
    }
  }

  void add() {
    keep_states();
    for (std::size_t i = 0; i < buckets_.size(); ++i) add_bucket(i);
  }

 private:
  void keep_states() {
    std::int64_t elements = 0;
    Bytes largest;
    for (const Bucket& bucket : buckets_) {
      elements += bucket.elements;
      largest = std::max(largest, cpu_.kept(bucket));
    }
    const Tier tier = on_ssd_ ? Tier::kSsd : Tier::kHost;
    const std::string where = on_ssd_ ? " on the SSD" : " on the host";
    mover_.keep(tier, Category::kMasterWeights, Bytes(elements * cpu_.optimizer().master_bytes),
                "master weights" + where);
    mover_.keep(tier, Category::kOptimizerState, Bytes(elements * cpu_.optimizer().state_bytes),
                "optimizer states" + where);
    if (on_ssd_) pool_.emplace(mover_, offload_.buffers, buckets_.size(), largest, "state buffer");
  }

  void add_bucket(std::size_t i) {
    const Bucket& bucket = buckets_[i];
    const std::string of_bucket = " of bucket " + std::to_string(i);
    const auto [copy_out, gradients] = add_gradients_out(bucket, of_bucket);
    // States on the SSD: host memory is for buffers only, so gradients wait in HBM for a free one.
    if (on_ssd_ && i >= pool_->size()) mover_.depend(copy_out, updates_[i - pool_->size()]);

    std::optional<InstanceId> read;
    if (on_ssd_) {
      read = mover_.read(cpu_.kept(bucket), "states" + of_bucket + " from the SSD");
      pool_->begin(i, *read);
    }
    const InstanceId update = cpu_.update(bucket, "update" + of_bucket);
    updates_.push_back(update);
    mover_.depend(update, copy_out);
    mover_.use(update, gradients);
    if (read) {
      mover_.depend(update, *read);
      pool_->use(i, update);
    }
    const InstanceId copy_in = add_parameters_in(bucket, of_bucket, update, i);
    if (!on_ssd_) return;
    const InstanceId write = mover_.write(cpu_.kept(bucket), "states" + of_bucket + " to the SSD");
    mover_.depend(write, update);
    pool_->end(i, write);
    if (!cpu_.optimizer().rounds_parameters) pool_->end(i, copy_in);
  }

  std::pair<InstanceId, BufferId> add_gradients_out(const Bucket& bucket,
                                                    const std::string& of_bucket) {
    const BufferId host =
        mover_.host(Category::kGradients, bucket.gradients, "gradients" + of_bucket);
    const InstanceId copy =
        mover_.copy_out(bucket.gradients, "gradients" + of_bucket + " to the host");
    mover_.after(copy, bucket.ready);
    mover_.after(copy, gradients_leave_after_);
    if (bucket.overwritten != kNoOp) mover_.before(bucket.overwritten, copy);
    for (const std::uint32_t p : bucket.parameters) {
      mover_.use(copy, BufferId{index(mover_.graph().parameters[p].gradient)});
    }
    mover_.use(copy, host);
    return {copy, host};
  }

  InstanceId add_parameters_in(const Bucket& bucket, const std::string& of_bucket,
                               InstanceId update, std::size_t turn) {
    const InstanceId copy =
        mover_.copy_in(bucket.weights, "parameters" + of_bucket + " to the GPU");
    mover_.depend(copy, update);
    mover_.after(copy, bucket.last_read);
    for (const std::uint32_t p : bucket.parameters) {
      mover_.use(copy, BufferId{index(mover_.graph().parameters[p].weight)});
    }
    if (cpu_.optimizer().rounds_parameters) {
      const BufferId rounded =
          mover_.host(Category::kStaging, bucket.weights, "parameters" + of_bucket);
      mover_.use(update, rounded);
      mover_.use(copy, rounded);
    } else if (on_ssd_) {
      pool_->use(turn, copy);
    }
    return copy;
  }

  Mover& mover_;
  CpuUpdate cpu_;
  const Offload& offload_;
  std::vector<Bucket> buckets_;
  bool on_ssd_;
  OpId gradients_leave_after_ = kNoOp;
  std::optional<Pool> pool_;
  std::vector<InstanceId> updates_;  // by bucket
};

}  // namespace

void offload_optimizer(Mover& mover, const TrainingConfig& training, const Offload& offload) {
  OptimizerOffload(mover, training, offload).add();
}

}  // namespace tidemark
