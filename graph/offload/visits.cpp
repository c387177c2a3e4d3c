#include "graph/offload/visits.hpp"

#include <algorithm>

namespace tidemark {

std::vector<Visit> visits(const StepGraph& graph) {
  std::vector<Visit> found;
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.ops[i];
    const bool backward = op.phase == Phase::kBackward || op.phase == Phase::kRecompute;
    if (!backward && op.phase != Phase::kForward) continue;
    const bool same_side = !found.empty() && found.back().backward == backward;
    if (same_side && found.back().layer == op.layer) {
      found.back().last = OpId{i};
      continue;
    }
    const auto here = static_cast<std::uint32_t>(found.size());
    found.push_back({.first = OpId{i},
                     .last = OpId{i},
                     .layer = op.layer,
                     .backward = backward,
                     .start = same_side ? found.back().start : here});
  }
  return found;
}

std::vector<std::uint32_t> visit_of_each_op(const StepGraph& graph,
                                            const std::vector<Visit>& visits) {
  std::vector<std::uint32_t> of(graph.op_count(), kNoIndex);
  for (std::uint32_t v = 0; v < visits.size(); ++v) {
    for (std::uint32_t op = index(visits[v].first); op <= index(visits[v].last); ++op) of[op] = v;
  }
  return of;
}

OpId before_visit(const std::vector<Visit>& visits, std::uint32_t visit, std::int64_t ahead) {
  const std::int64_t earlier = std::max<std::int64_t>(0, std::int64_t{visit} - ahead);
  const std::uint32_t first = index(visits[static_cast<std::size_t>(earlier)].first);
  return first == 0 ? kNoOp : OpId{first - 1};
}

}  // namespace tidemark
