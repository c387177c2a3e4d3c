#pragma once

#include <string>

#include "graph/buckets.hpp"
#include "graph/cpu_optimizer.hpp"
#include "graph/offload/mover.hpp"

namespace tidemark {

// The CPU's work on buckets of parameters, as instances that stream DRAM.
class CpuUpdate {
 public:
  CpuUpdate(Mover& mover, const TrainingConfig& training)
      : mover_(mover), optimizer_(cpu_optimizer(training)) {}

  const CpuOptimizer& optimizer() const { return optimizer_; }
  Bytes kept(const Bucket& bucket) const {
    return Bytes(bucket.elements * optimizer_.kept_bytes());
  }

  // The optimizer's step.
  InstanceId update(const Bucket& bucket, std::string name);
  // Adds a bucket's gradients to those of earlier passes: two reads and a write of each, bound by
  // DRAM alone.
  InstanceId add(const Bucket& bucket, std::string name);

 private:
  PathId path(const Bucket& bucket, Bytes streamed);

  Mover& mover_;
  CpuOptimizer optimizer_;
  PathId path_ = kNoPath;
  Bandwidth cap_;
  PathId sum_path_ = kNoPath;
};

}  // namespace tidemark
