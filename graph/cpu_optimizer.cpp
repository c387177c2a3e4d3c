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

}  // namespace

CpuOptimizer cpu_optimizer(const TrainingConfig& training) {
  const std::int64_t width = training.precision == Precision::kBf16 ? 2 : 4;
  return {.master_bytes = width,
          .state_bytes = width * moments(training.optimizer),
          .rounds_parameters = training.precision == Precision::kBf16Mixed,
          .flops = flops_per_parameter(training.optimizer)};
}

}  // namespace tidemark
