#include "graph/categories.hpp"

#include <vector>

namespace tidemark {

void sort_into_categories(StepGraph& graph) {
  const std::size_t count = graph.op_count();
  std::vector<std::uint32_t> end_of_run(count);  // last op of the same stretch of equal phase
  std::uint32_t end = 0;
  for (std::size_t i = count; i-- > 0;) {
    if (i + 1 == count || graph.ops[i + 1].phase != graph.ops[i].phase) {
      end = static_cast<std::uint32_t>(i);
    }
    end_of_run[i] = end;
  }
  for (Tensor& tensor : graph.tensors) {
    if (tensor.initial() || tensor.category != Category::kTemporaries) continue;
    const Op& maker = graph.op(tensor.producer);
    const bool outlives =
        tensor.persistent() || index(tensor.last_use) > end_of_run[index(tensor.producer)];
    if (maker.module == Module::kLoss ||
        (maker.module == Module::kHead && maker.kind == OpKind::kMm)) {
      const bool forward = maker.phase == Phase::kForward;
      if (forward || maker.module == Module::kLoss) tensor.category = Category::kLogitsLoss;
    } else if (maker.phase == Phase::kForward && outlives) {
      tensor.category = Category::kActivations;
    } else if (maker.phase == Phase::kRecompute && outlives) {
      tensor.category = Category::kRecomputed;
    }
  }
}

}  // namespace tidemark
