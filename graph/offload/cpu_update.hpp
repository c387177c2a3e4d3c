#pragma once

#include <string>

#include "graph/buckets.hpp"
#include "graph/cpu_optimizer.hpp"
#include "graph/offload.hpp"
#include "graph/offload/mover.hpp"

namespace tidemark {

// Whether parameters that are kept off the GPU need bytes of their own there: they are not the
// optimizer's master weights.
bool keeps_parameters(const TrainingConfig& training, const Offload& offload);

// An update as the CPU does it: what reads the gradients as they arrived, and what ends it. The
// same instance where nothing widens the gradients before.
struct CpuUpdateSpan {
  InstanceId first = kNoInstance;
  InstanceId last = kNoInstance;
};

// The CPU's work on buckets of parameters, as instances that stream DRAM.
class CpuUpdate {
 public:
  CpuUpdate(Mover& mover, const TrainingConfig& training, const Offload& offload)
      : mover_(mover),
        optimizer_(cpu_optimizer(training)),
        kind_(training.optimizer),
        kernel_(offload.cpu_kernel),
        upcast_(offload.upcast),
        parameters_(offload.parameters.to),
        parameters_apart_(keeps_parameters(training, offload)) {}

  const CpuOptimizer& optimizer() const { return optimizer_; }
  Bytes kept(const Bucket& bucket) const {
    return Bytes(bucket.elements * optimizer_.kept_bytes());
  }

  // Whether the step writes new parameters beside the master weights: rounded, or a copy that stays
  // on the host where the master weights leave it.
  bool writes_parameters() const {
    return optimizer_.rounds_parameters ||
           (parameters_apart_ && parameters_ == ParameterOffload::To::kHost);
  }

  // The optimizer's step.
  CpuUpdateSpan update(const Bucket& bucket, const std::string& name);
  // Reads a bucket's gradients once, for their norm and for values that overflowed.
  InstanceId norm(const Bucket& bucket, std::string name);
  // Adds a bucket's gradients to those of earlier passes: two reads and a write of each, bound by
  // DRAM alone.
  InstanceId add(const Bucket& bucket, std::string name);

 private:
  PathId path(Bandwidth cap);
  InstanceId pass(Phase phase, Bytes bytes, std::string name);

  Mover& mover_;
  CpuOptimizer optimizer_;
  Optimizer kind_;
  CpuKernel kernel_;
  bool upcast_;
  ParameterOffload::To parameters_;
  bool parameters_apart_;
  PathId path_ = kNoPath;
  Bandwidth cap_;
  PathId sum_path_ = kNoPath;
};

}  // namespace tidemark
