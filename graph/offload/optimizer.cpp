#include "graph/offload/optimizer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "graph/buckets.hpp"
#include "graph/offload/cpu_update.hpp"
#include "graph/offload/gradients.hpp"
#include "graph/offload/pool.hpp"

namespace tidemark {
namespace {

std::string of_bucket(std::size_t i) { return " of bucket " + std::to_string(i); }

class OptimizerOffload {
 public:
  OptimizerOffload(Mover& mover, const Departures& departures, const Stays& stays,
                   const TrainingConfig& training, const Offload& offload,
                   const std::vector<InstanceId>& parameter_reads)
      : mover_(mover),
        cpu_(mover, training, offload),
        offload_(offload),
        parameter_reads_(parameter_reads),
        parameters_apart_(keeps_parameters(training, offload)),
        buckets_(gradient_buckets(mover.graph(), offload.bucket)),
        gradients_(mover, departures, stays, cpu_, offload, buckets_),
        on_ssd_(offload.optimizer == Offload::States::kSsd) {}

  void add() {
    keep_states();
    gradients_.add_early_passes();
    const bool overlapped = offload_.overlap || on_ssd_;
    const bool gradients_first = offload_.clip || !overlapped;
    if (gradients_first) {
      for (std::size_t i = 0; i < buckets_.size(); ++i) add_gradients(i);
    }
    if (offload_.clip) {
      for (std::size_t i = 0; i < buckets_.size(); ++i) add_norm(i);
    }
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      if (!gradients_first) add_gradients(i);
      add_update(i);
      if (overlapped) add_parameters(i);
    }
    if (overlapped) return;
    for (std::size_t i = 0; i < buckets_.size(); ++i) add_parameters(i);
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
    if (on_ssd_) {
      pool_.emplace(mover_, offload_.overlap ? offload_.buffers : 1, buckets_.size(), largest,
                    "state buffer");
    }
  }

  void add_gradients(std::size_t i) {
    // States on the SSD: host memory is for buffers only, so gradients wait in HBM for a free one,
    // unless they have a place of their own.
    const bool waits = on_ssd_ && i >= pool_->size() && !offload_.moves_gradients() &&
                       !offload_.delayed_update && !offload_.clip;
    gradients_.add_last_pass(i, waits ? std::optional(updates_[i - pool_->size()]) : std::nullopt);
  }

  // No update starts before the last of these has ended: the global norm scales them all.
  void add_norm(std::size_t i) {
    gradients_.bring_to_cpu(i);
    norm_ = cpu_.norm(buckets_[i], "norm of the gradients" + of_bucket(i));
    gradients_.give_to_cpu(i, *norm_);
  }

  void add_update(std::size_t i) {
    const Bucket& bucket = buckets_[i];
    std::optional<InstanceId> read;
    if (on_ssd_) {
      read = mover_.read(cpu_.kept(bucket), "states" + of_bucket(i) + " from the SSD");
      pool_->begin(i, *read);
    }
    gradients_.bring_to_cpu(i);
    const auto [first, update] = cpu_.update(bucket, "update" + of_bucket(i));
    gradients_.give_to_cpu(i, first);
    if (norm_) mover_.depend(first, *norm_);
    if (copying_) mover_.depend(first, *copying_);
    if (!offload_.overlap && !on_ssd_ && !offload_.delayed_update) {
      if (i > 0) {
        mover_.depend(first, updates_[i - 1]);
      } else {
        for (std::size_t each = 0; each < buckets_.size(); ++each) {
          mover_.depend(first, gradients_.away(each));
        }
      }
    }
    updates_.push_back(update);
    if (!on_ssd_) return;
    mover_.depend(update, *read);
    pool_->use(i, update);
    const InstanceId write =
        mover_.write(cpu_.kept(bucket), "states" + of_bucket(i) + " to the SSD");
    mover_.depend(write, update);
    pool_->end(i, write);
  }

  void add_parameters(std::size_t i) {
    if (offload_.parameters.to != ParameterOffload::To::kGpu) return keep_parameters(i);
    const Bucket& bucket = buckets_[i];
    const InstanceId copy =
        mover_.copy_in_apart(bucket.weights, "parameters" + of_bucket(i) + " to the GPU");
    // The thread that updates makes the copy, which in pageable memory blocks it. Delayed updates
    // leave theirs to another one: parameters that come may have to wait for backward.
    if (mover_.paths().pageable && !offload_.delayed_update) copying_ = copy;
    mover_.depend(copy, offload_.overlap || on_ssd_ ? updates_[i] : updates_.back());
    mover_.after(copy, last_read_up_to(i));
    for (const std::uint32_t p : bucket.parameters) {
      mover_.use(copy, BufferId{index(mover_.graph().parameters[p].weight)});
    }
    take_new_parameters(i, copy);
  }

  // The last op that reads old parameters of the bucket. Of a delayed update, whose gradients are
  // there from the start, also those of the buckets before it: parameters that are not read for
  // long (an embedding's, after the first op) are updated last, and would hold up all others if
  // the copy stream had them first.
  OpId last_read_up_to(std::size_t i) {
    const OpId last = buckets_[i].last_read;
    if (!offload_.delayed_update) return last;
    if (index(last_read_) + 1 < index(last) + 1) last_read_ = last;  // kNoOp: first
    return last_read_;
  }

  // Of parameters that are kept off the GPU. On the host the update has written them; to the SSD
  // they go by themselves, unless they are the master weights.
  void keep_parameters(std::size_t i) {
    const Bucket& bucket = buckets_[i];
    for (const std::uint32_t p : bucket.parameters) {
      if (parameter_reads_[p] != kNoInstance) mover_.depend(updates_[i], parameter_reads_[p]);
    }
    if (offload_.parameters.to == ParameterOffload::To::kHost || !parameters_apart_) return;
    const InstanceId write =
        mover_.write(bucket.weights, "parameters" + of_bucket(i) + " to the SSD");
    mover_.depend(write, updates_[i]);
    take_new_parameters(i, write);
  }

  // From where the update has put them on the host.
  void take_new_parameters(std::size_t i, InstanceId transfer) {
    if (cpu_.optimizer().rounds_parameters) {
      const BufferId rounded =
          mover_.host(Category::kStaging, buckets_[i].weights, "parameters" + of_bucket(i));
      mover_.use(updates_[i], rounded);
      mover_.use(transfer, rounded);
    } else if (on_ssd_) {
      pool_->end(i, transfer);
    }
  }

  Mover& mover_;
  CpuUpdate cpu_;
  const Offload& offload_;
  const std::vector<InstanceId>& parameter_reads_;
  bool parameters_apart_;
  const std::vector<Bucket> buckets_;
  GradientMoves gradients_;
  bool on_ssd_;
  std::optional<Pool> pool_;
  std::optional<InstanceId> norm_;     // of the last bucket, where gradients are clipped
  std::optional<InstanceId> copying_;  // what the thread that updates waits for
  OpId last_read_ = kNoOp;             // of the buckets so far, where updates are delayed
  std::vector<InstanceId> updates_;    // by bucket
};

}  // namespace

void offload_optimizer(Mover& mover, const Departures& departures, const Stays& stays,
                       const TrainingConfig& training, const Offload& offload,
                       const std::vector<InstanceId>& parameter_reads) {
  OptimizerOffload(mover, departures, stays, training, offload, parameter_reads).add();
}

}  // namespace tidemark
