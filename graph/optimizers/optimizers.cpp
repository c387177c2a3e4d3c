#include <algorithm>
#include <array>

#include "graph/optimizers/optimizer.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {

void adamw_step(Tape& tape, std::vector<Updated>& tensors);
void sgd_step(Tape& tape, std::vector<Updated>& tensors);
void sgd_momentum_step(Tape& tape, std::vector<Updated>& tensors);

namespace {

constexpr auto kOptimizers = std::to_array<OptimizerRow>({
    {Optimizer::kAdamW, "adamw", "AdamW: two moments a parameter", 2, adamw_step},
    {Optimizer::kSgd, "sgd", "SGD: no state", 0, sgd_step},
    {Optimizer::kSgdMomentum, "sgd-momentum", "SGD with a momentum buffer", 1, sgd_momentum_step},
});

}  // namespace

std::span<const OptimizerRow> optimizers() { return kOptimizers; }

const OptimizerRow& row_of(Optimizer optimizer) {
  for (const OptimizerRow& row : kOptimizers) {
    if (row.optimizer == optimizer) return row;
  }
  throw InternalError("every optimizer has a row");
}

std::int32_t multi_tensor_launches(int depth, const std::vector<Updated>& tensors) {
  constexpr std::array<std::int64_t, 5> kMostTensors = {110, 64, 48, 36, 30};
  constexpr std::int64_t kChunk = 65536;
  constexpr std::int64_t kMostChunks = 320;
  std::int64_t chunks = 0;
  for (const Updated& x : tensors) chunks += (x.target.shape().elements() + kChunk - 1) / kChunk;
  const std::int64_t most = kMostTensors[static_cast<std::size_t>(depth - 1)];
  const std::int64_t count = static_cast<std::int64_t>(tensors.size());
  return static_cast<std::int32_t>(
      std::max((count + most - 1) / most, (chunks + kMostChunks - 1) / kMostChunks));
}

}  // namespace tidemark
