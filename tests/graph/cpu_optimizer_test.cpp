#include "graph/cpu_optimizer.hpp"

#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

CpuOptimizer of(Optimizer optimizer, Precision precision) {
  TrainingConfig training;
  training.optimizer = optimizer;
  training.precision = precision;
  return cpu_optimizer(training);
}

TEST_CASE("AdamW keeps a master copy and two moments in the precision of its update") {
  const CpuOptimizer mixed = of(Optimizer::kAdamW, Precision::kBf16Mixed);
  CHECK(mixed.master_bytes == 4);
  CHECK(mixed.state_bytes == 8);
  CHECK(mixed.kept_bytes() == 12);
  CHECK(mixed.rounds_parameters);
  CHECK(mixed.flops == 15);
  for (const Precision precision : {Precision::kFp32, Precision::kAutocast}) {
    CHECK(of(Optimizer::kAdamW, precision).kept_bytes() == 12);
    CHECK_FALSE(of(Optimizer::kAdamW, precision).rounds_parameters);
  }
  CHECK(of(Optimizer::kAdamW, Precision::kBf16).kept_bytes() == 6);
  CHECK_FALSE(of(Optimizer::kAdamW, Precision::kBf16).rounds_parameters);
}

TEST_CASE("a fused update is one pass, one by the framework's operations is many") {
  const CpuOptimizer mixed = of(Optimizer::kAdamW, Precision::kBf16Mixed);
  const CpuOptimizer plain = of(Optimizer::kAdamW, Precision::kFp32);
  const CpuUpdateWork fused = cpu_update_work(Optimizer::kAdamW, mixed, 2, 2, CpuKernel::kFused);
  CHECK(fused.streamed == 28);
  CHECK(fused.fresh == 0);
  CHECK(fused.flops == 15);
  // fp32: 20 reads and writes. Mixed: 2 + 4 to widen gradients, 4 + 2 to round parameters.
  CHECK(cpu_update_work(Optimizer::kAdamW, plain, 4, 4, CpuKernel::kNaive).streamed == 80);
  const CpuUpdateWork naive = cpu_update_work(Optimizer::kAdamW, mixed, 2, 2, CpuKernel::kNaive);
  CHECK(naive.streamed == 92);
  CHECK(naive.fresh == 8);  // the root and the quotient
  CHECK(naive.divides);
  const CpuOptimizer sgd = of(Optimizer::kSgd, Precision::kFp32);
  CHECK(cpu_update_work(Optimizer::kSgd, sgd, 4, 4, CpuKernel::kFused).streamed == 12);
  CHECK(cpu_update_work(Optimizer::kSgd, sgd, 4, 4, CpuKernel::kNaive).streamed == 12);
  const CpuOptimizer momentum = of(Optimizer::kSgdMomentum, Precision::kFp32);
  CHECK(cpu_update_work(Optimizer::kSgdMomentum, momentum, 4, 4, CpuKernel::kFused).streamed == 20);
  CHECK(cpu_update_work(Optimizer::kSgdMomentum, momentum, 4, 4, CpuKernel::kNaive).streamed == 32);
}

TEST_CASE("SGD keeps no moment, and one with momentum") {
  CHECK(of(Optimizer::kSgd, Precision::kBf16Mixed).state_bytes == 0);
  CHECK(of(Optimizer::kSgd, Precision::kBf16Mixed).master_bytes == 4);
  CHECK(of(Optimizer::kSgdMomentum, Precision::kBf16Mixed).state_bytes == 4);
  CHECK(of(Optimizer::kSgdMomentum, Precision::kBf16).state_bytes == 2);
  CHECK(of(Optimizer::kSgd, Precision::kFp32).kept_bytes() == 4);
}

}  // namespace
}  // namespace tidemark
