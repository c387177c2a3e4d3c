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
//
// The framework's own optimizer makes a pass for each operation. torch.optim.Adam on the CPU
// (torch/optim/adam.py, one tensor at a time), reads and writes in elements of the update's dtype:
//
//   m.mul_(b1) 2, .add_(g) 3    v.mul_(b2) 2, .addcmul_(g, g) 3
//   v.sqrt() 2, / c 2, .add_(eps) 2    p.addcdiv_(m, .) 4                      20 in all: 80 bytes
//
// sqrt() and / allocate their results. In bf16-mixed a pass before widens the gradients (2 + 4
// bytes) and one after rounds the parameters (4 + 2). SGD: p.add_(g) 3; with momentum b.mul_ 2,
// .add_(g) 3, p.add_(b) 3.

#include <cstdint>

#include "graph/model.hpp"
#include "graph/transport.hpp"
#include "hardware/cpu_update.hpp"

namespace tidemark {

struct CpuOptimizer {
  std::int64_t master_bytes = 0;   // kept per parameter
  std::int64_t state_bytes = 0;    // moments, kept per parameter
  bool rounds_parameters = false;  // the update writes a copy of the parameters in their own dtype
  std::int64_t flops = 0;          // per parameter

  std::int64_t kept_bytes() const { return master_bytes + state_bytes; }
};

CpuOptimizer cpu_optimizer(const TrainingConfig& training);

// Of an update that reads gradients of `gradient_bytes` an element and writes rounded parameters of
// `weight_bytes` an element (0: none).
CpuUpdateWork cpu_update_work(Optimizer optimizer, const CpuOptimizer& kept,
                              std::int64_t gradient_bytes, std::int64_t weight_bytes,
                              CpuKernel kernel);

}  // namespace tidemark
