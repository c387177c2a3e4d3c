#include "graph/lifetime.hpp"

namespace tidemark {

std::vector<Bytes> live_bytes(const StepGraph& graph) {
  std::vector<Bytes> level(graph.op_count() + 1);  // changes first, then their running sum
  for (const Tensor& tensor : graph.tensors) {
    level[tensor.initial() ? 0 : index(tensor.producer)] += tensor.bytes;
    if (!tensor.persistent()) level[index(tensor.last_use) + 1] -= tensor.bytes;
  }
  for (std::size_t op = 1; op < level.size(); ++op) level[op] += level[op - 1];
  level.pop_back();
  return level;
}

LivePeak live_peak(const StepGraph& graph) {
  LivePeak peak;
  const std::vector<Bytes> level = live_bytes(graph);
  for (std::uint32_t op = 0; op < level.size(); ++op) {
    if (peak.op == kNoOp || level[op] > peak.bytes) peak = {OpId{op}, level[op]};
  }
  return peak;
}

}  // namespace tidemark
