#include "graph/offload/cpu_update.hpp"

#include <algorithm>
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
InstanceId CpuUpdate::update(const Bucket& bucket, std::string name) {
  CpuOptimizer kept = optimizer_;
  kept.rounds_parameters = writes_parameters();
  const std::int64_t elements = std::max<std::int64_t>(bucket.elements, 1);
  const CpuUpdateWork work = cpu_update_work(kind_, kept, bucket.gradients.count / elements,
                                             bucket.weights.count / elements, kernel_);
  const CpuUpdateTime time = cpu_update_time(mover_.machine().host, work, bucket.elements);
  const InstanceId update =
      mover_.builder().add_instance({.stream = Stream::kCpuOptimizer,
                                     .phase = Phase::kOptimizer,
                                     .name = mover_.name(name),
                                     .path = path(time.cap),
                                     .fixed = time.fixed,
                                     .bytes = Bytes(bucket.elements * work.streamed)});
  if (work.fresh > 0) {
    mover_.use(update, mover_.host(Category::kTemporaries, Bytes(bucket.elements * work.fresh),
                                   "temporaries of " + name));
  }
  return update;
}

InstanceId CpuUpdate::add(const Bucket& bucket, std::string name) {
  ensure(mover_.machine().host.bandwidth.count > 0,
         "a host that adds gradients has DRAM bandwidth");
  if (sum_path_ == kNoPath)
    sum_path_ = add_cpu_path(mover_.builder(), {}, mover_.paths().other_share);
  return mover_.builder().add_instance({.stream = Stream::kCpuOptimizer,
                                        .phase = Phase::kBackward,
                                        .name = mover_.name(std::move(name)),
                                        .path = sum_path_,
                                        .bytes = bucket.gradients * 3});
}

PathId CpuUpdate::path(Bandwidth cap) {
  if (path_ == kNoPath || cap != cap_) {
    path_ = add_cpu_path(mover_.builder(), cap, mover_.paths().other_share);
    cap_ = cap;
  }
  return path_;
}

}  // namespace tidemark
