#include "graph/buckets.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

// kNoOp comes before every op.
std::uint32_t place(OpId op) { return index(op) + 1; }

OpId later(OpId a, OpId b) { return place(a) < place(b) ? b : a; }

std::vector<OpId> last_accesses(const StepGraph& graph) {
  std::vector<OpId> last(graph.tensors.size(), kNoOp);
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    for (const TensorId tensor : graph.inputs_of(OpId{op})) last[index(tensor)] = OpId{op};
    for (const TensorId tensor : graph.updated_by(OpId{op})) last[index(tensor)] = OpId{op};
  }
  return last;
}

// By tensor: the first op that writes a gradient after the op that completes it.
std::vector<OpId> first_overwrites(const StepGraph& graph) {
  std::vector<OpId> ready(graph.tensors.size(), kNoOp);
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.gradient != kNoTensor) {
      ready[index(parameter.gradient)] = parameter.gradient_ready;
    }
  }
  std::vector<OpId> first(graph.tensors.size(), kNoOp);
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    for (const TensorId tensor : graph.updated_by(OpId{op})) {
      const OpId complete = ready[index(tensor)];
      if (complete == kNoOp || op <= index(complete)) continue;
      if (first[index(tensor)] == kNoOp) first[index(tensor)] = OpId{op};
    }
  }
  return first;
}

}  // namespace

std::vector<Bucket> gradient_buckets(const StepGraph& graph, Bytes most) {
  ensure(most.count > 0, "a bucket has room");
  std::vector<std::uint32_t> order;
  for (std::uint32_t p = 0; p < graph.parameters.size(); ++p) {
    if (graph.parameters[p].gradient != kNoTensor) order.push_back(p);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return place(graph.parameters[a].gradient_ready) < place(graph.parameters[b].gradient_ready);
  });

  const std::vector<OpId> last_access = last_accesses(graph);
  const std::vector<OpId> overwrites = first_overwrites(graph);
  std::vector<Bucket> buckets;
  for (const std::uint32_t p : order) {
    const Parameter& parameter = graph.parameters[p];
    const Bytes gradient = graph.tensor(parameter.gradient).bytes;
    if (buckets.empty() || buckets.back().gradients + gradient > most) buckets.emplace_back();
    Bucket& bucket = buckets.back();
    bucket.parameters.push_back(p);
    bucket.elements += parameter.elements;
    bucket.gradients += gradient;
    bucket.weights += graph.tensor(parameter.weight).bytes;
    bucket.ready = later(bucket.ready, parameter.gradient_ready);
    bucket.overwritten = std::min(bucket.overwritten, overwrites[index(parameter.gradient)]);
    bucket.last_read = later(bucket.last_read, last_access[index(parameter.weight)]);
  }
  return buckets;
}

}  // namespace tidemark
