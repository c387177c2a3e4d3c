#include "graph/offload/cpu_update.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark {

bool keeps_parameters(const TrainingConfig& training, const Offload& offload) {
  if (offload.parameters.to == ParameterOffload::To::kGpu) return false;
  const bool same_tier = (offload.parameters.to == ParameterOffload::To::kSsd) ==
                         (offload.optimizer == Offload::States::kSsd);
  return cpu_optimizer(training).rounds_parameters || !same_tier;
}

// Sizes of a bucket are whole multiples of its elements: all its parameters have one dtype.
CpuUpdateSpan CpuUpdate::update(const Bucket& bucket, const std::string& name) {
  CpuOptimizer kept = optimizer_;
  kept.rounds_parameters = writes_parameters();
  const std::int64_t elements = std::max<std::int64_t>(bucket.elements, 1);
  const std::int64_t stored = bucket.gradients.count / elements;  // bytes of a gradient
  const std::int64_t width = upcast_ ? std::max(stored, optimizer_.master_bytes) : stored;
  const CpuUpdateWork work =
      cpu_update_work(kind_, kept, width, bucket.weights.count / elements, kernel_);
  std::optional<InstanceId> widened;
  if (width != stored) {
    widened = pass(Phase::kOptimizer, bucket.gradients + Bytes(bucket.elements * width),
                   "wide gradients for " + name);
  }
  const CpuUpdateTime time = cpu_update_time(mover_.machine().host, work, bucket.elements);
  const InstanceId update =
      mover_.builder().add_instance({.stream = Stream::kCpuOptimizer,
                                     .phase = Phase::kOptimizer,
                                     .name = mover_.name(name),
                                     .path = path(time.cap),
                                     .fixed = time.fixed,
                                     .bytes = Bytes(bucket.elements * work.streamed)});
  if (widened) {
    const BufferId wide = mover_.host(Category::kGradients, Bytes(bucket.elements * width),
                                      "wide gradients for " + name);
    mover_.depend(update, *widened);
    mover_.use(*widened, wide);
    mover_.use(update, wide);
  }
  if (work.fresh > 0) {
    mover_.use(update, mover_.host(Category::kTemporaries, Bytes(bucket.elements * work.fresh),
                                   "temporaries of " + name));
  }
  return {widened.value_or(update), update};
}

InstanceId CpuUpdate::add(const Bucket& bucket, std::string name) {
  return pass(Phase::kBackward, bucket.gradients * 3, std::move(name));
}

InstanceId CpuUpdate::norm(const Bucket& bucket, std::string name) {
  return pass(Phase::kOptimizer, bucket.gradients, std::move(name));
}

// Of plain reads and writes, bound by DRAM alone.
InstanceId CpuUpdate::pass(Phase phase, Bytes bytes, std::string name) {
  ensure(mover_.machine().host.bandwidth.count > 0,
         "a host that works on gradients has DRAM bandwidth");
  if (sum_path_ == kNoPath) {
    sum_path_ = add_cpu_path(mover_.builder(), {}, mover_.paths().other_share);
  }
  return mover_.builder().add_instance({.stream = Stream::kCpuOptimizer,
                                        .phase = phase,
                                        .name = mover_.name(std::move(name)),
                                        .path = sum_path_,
                                        .bytes = bytes});
}

PathId CpuUpdate::path(Bandwidth cap) {
  if (path_ == kNoPath || cap != cap_) {
    path_ = add_cpu_path(mover_.builder(), cap, mover_.paths().other_share);
    cap_ = cap;
  }
  return path_;
}

}  // namespace tidemark
