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

TEST_CASE("SGD keeps no moment, and one with momentum") {
  CHECK(of(Optimizer::kSgd, Precision::kBf16Mixed).state_bytes == 0);
  CHECK(of(Optimizer::kSgd, Precision::kBf16Mixed).master_bytes == 4);
  CHECK(of(Optimizer::kSgdMomentum, Precision::kBf16Mixed).state_bytes == 4);
  CHECK(of(Optimizer::kSgdMomentum, Precision::kBf16).state_bytes == 2);
  CHECK(of(Optimizer::kSgd, Precision::kFp32).kept_bytes() == 4);
}

}  // namespace
}  // namespace tidemark
