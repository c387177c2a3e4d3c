#include "graph/cpu_optimizer.hpp"

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

int moments(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdamW:
      return 2;
    case Optimizer::kSgd:
      return 0;
    case Optimizer::kSgdMomentum:
      return 1;
  }
  throw InternalError("an optimizer is one of those known");
}

// Counted in the scalar loop of DeepSpeed's csrc/adam/cpu_adam_impl.cpp, every addition, product,
// quotient and root as one:
//   m = m * b1; m = g * (1 - b1) + m              3
//   v = v * b2; g = g * g; v = g * (1 - b2) + v   4
//   g = sqrt(v); g = g * c + eps; g = m / g       4
//   p += decay * p; p = g * step + p              4
// SGD is p = g * step + p; momentum adds m = m * b + g.
std::int64_t flops_per_parameter(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdamW:
      return 15;
    case Optimizer::kSgd:
      return 2;
    case Optimizer::kSgdMomentum:
      return 4;
  }
  throw InternalError("an optimizer is one of those known");
}

// Vector instructions of the AVX loop in DeepSpeed's csrc/includes/cpu_adam.h, fused multiply-adds
// as one: m 2, v 3, root and bias 1 (beside the root), quotient (beside), decay 1, step 1.
std::int64_t vectors_per_parameter(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdamW:
      return 8;
    case Optimizer::kSgd:
      return 1;
    case Optimizer::kSgdMomentum:
      return 2;
  }
  throw InternalError("an optimizer is one of those known");
}

// Elements read and written by all passes of the framework's own optimizer.
std::int64_t naive_passes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdamW:
      return 20;
    case Optimizer::kSgd:
      return 3;
    case Optimizer::kSgdMomentum:
      return 8;
  }
  throw InternalError("an optimizer is one of those known");
}

}  // namespace

CpuOptimizer cpu_optimizer(const TrainingConfig& training) {
  const std::int64_t width = training.precision == Precision::kBf16 ? 2 : 4;
  return {.master_bytes = width,
          .state_bytes = width * moments(training.optimizer),
          .rounds_parameters = training.precision == Precision::kBf16Mixed,
          .flops = flops_per_parameter(training.optimizer)};
}

CpuUpdateWork cpu_update_work(Optimizer optimizer, const CpuOptimizer& kept,
                              std::int64_t gradient_bytes, std::int64_t weight_bytes,
                              CpuKernel kernel) {
  const std::int64_t rounded = kept.rounds_parameters ? weight_bytes : 0;
  CpuUpdateWork work{.streamed = gradient_bytes + 2 * kept.kept_bytes() + rounded,
                     .fresh = 0,
                     .vectors = vectors_per_parameter(optimizer),
                     .divides = optimizer == Optimizer::kAdamW,
                     .flops = kept.flops};
  if (kernel == CpuKernel::kFused) return work;
  const std::int64_t width = kept.master_bytes;
  work.streamed = naive_passes(optimizer) * width;
  if (gradient_bytes != width) work.streamed += gradient_bytes + width;
  if (rounded > 0) work.streamed += width + rounded;
  if (work.divides) work.fresh = 2 * width;
  return work;
}

}  // namespace tidemark
