#include "tools/recompute_waste.hpp"

#include <algorithm>
#include <vector>

namespace tidemark::tools {

RecomputeWaste recompute_waste(const StepGraph& graph, const Program& program,
                               std::span<const Segment> segments, std::int64_t layers) {
  RecomputeWaste waste;
  const bool last_replayed = !segments.empty() && segments.back().last == layers;
  std::vector<bool> read(graph.tensors.size(), false);
  for (auto i = static_cast<std::uint32_t>(graph.op_count()); i-- > 0;) {
    const OpId id{i};
    const Op& op = graph.op(id);
    const auto is_read = [&](TensorId tensor) { return read[index(tensor)]; };
    const bool again = op.phase == Phase::kRecompute;
    const bool useful = !again || std::ranges::any_of(graph.outputs_of(id), is_read) ||
                        std::ranges::any_of(graph.updated_by(id), is_read);
    const SimTime time = program.instances[i].fixed;
    if (!useful) waste.unread += time;
    if (again && last_replayed && op.layer >= segments.back().first) waste.last_segment += time;
    if (!useful) continue;
    for (const TensorId tensor : graph.inputs_of(id)) read[index(tensor)] = true;
    for (const TensorId tensor : graph.updated_by(id)) read[index(tensor)] = true;
  }
  return waste;
}

}  // namespace tidemark::tools
