#include "graph/offload/cpu_update.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark {

bool keeps_parameters(const TrainingConfig& training, const Offload& offload) {
  if (offload.parameters.to == ParameterOffload::To::kGpu) return false;
  const bool same_tier = (offload.parameters.to == ParameterOffload::To::kSsd) ==
                         (offload.optimizer == Offload::States::kSsd);
  return cpu_optimizer(training).rounds_parameters || !same_tier;
}

InstanceId CpuUpdate::update(const Bucket& bucket, std::string name) {
  const Bytes streamed =
      bucket.gradients + kept(bucket) * 2 + (writes_parameters() ? bucket.weights : Bytes(0));
  return mover_.builder().add_instance({.stream = Stream::kCpuOptimizer,
                                        .phase = Phase::kOptimizer,
                                        .name = mover_.name(std::move(name)),
                                        .path = path(bucket, streamed),
                                        .bytes = streamed});
}

InstanceId CpuUpdate::add(const Bucket& bucket, std::string name) {
  ensure(mover_.machine().host.bandwidth.count > 0,
         "a host that adds gradients has DRAM bandwidth");
  if (sum_path_ == kNoPath) sum_path_ = add_cpu_path(mover_.builder(), {});
  return mover_.builder().add_instance({.stream = Stream::kCpuOptimizer,
                                        .phase = Phase::kBackward,
                                        .name = mover_.name(std::move(name)),
                                        .path = sum_path_,
                                        .bytes = bucket.gradients * 3});
}

// The compute bound as a rate of streaming: bytes x FLOP/s / FLOPs.
PathId CpuUpdate::path(const Bucket& bucket, Bytes streamed) {
  const Host& host = mover_.machine().host;
  ensure(host.bandwidth.count > 0, "a host that updates parameters has DRAM bandwidth");
  Bandwidth cap;
  if (host.cpu_optimizer.count > 0 && bucket.elements > 0) {
    const Int128 rate = static_cast<Int128>(streamed.count) * host.cpu_optimizer.count /
                        (static_cast<Int128>(bucket.elements) * optimizer_.flops);
    constexpr Int128 most = std::numeric_limits<std::int64_t>::max() / 4;
    cap = Bandwidth(static_cast<std::int64_t>(std::clamp<Int128>(rate, 1, most)));
  }
  if (path_ == kNoPath || cap != cap_) {
    path_ = add_cpu_path(mover_.builder(), cap);
    cap_ = cap;
  }
  return path_;
}

}  // namespace tidemark
