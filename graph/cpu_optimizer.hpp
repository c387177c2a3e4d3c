#pragma once
// What an optimizer on the CPU keeps and streams. Bytes per parameter:
//
//                      keeps              reads                  writes               streams
//                      master  states     gradient  kept         kept  parameters
//   adamw bf16-mixed      4     4 + 4         2      12           12       2             28
//   adamw fp32            4     4 + 4         4      12           12       -             28
//   adamw bf16            2     2 + 2         2       6            6       -             14
//   sgd   bf16-mixed      4       -           2       4            4       2             12
//   sgd-momentum mixed    4       4           2       8            8       2             20
//
// Where parameters have the precision of the update (fp32, autocast, bf16) the "master weights" are
// the host's copy of the parameters, and the GPU's new parameters are copied straight from there;
// in bf16-mixed the update writes the rounded parameters to a buffer of their own. Sources:
// DeepSpeed, csrc/adam/cpu_adam_impl.cpp (one pass over gradient, master, m and v); ZeRO-Offload,
// arXiv:2101.06840 (fp32 master and moments on the host, 2 bytes each way on PCIe).

#include <cstdint>

#include "graph/model.hpp"

namespace tidemark {

struct CpuOptimizer {
  std::int64_t master_bytes = 0;   // kept per parameter
  std::int64_t state_bytes = 0;    // moments, kept per parameter
  bool rounds_parameters = false;  // the update writes a copy of the parameters in their own dtype
  std::int64_t flops = 0;          // per parameter

  std::int64_t kept_bytes() const { return master_bytes + state_bytes; }
};

CpuOptimizer cpu_optimizer(const TrainingConfig& training);

}  // namespace tidemark
