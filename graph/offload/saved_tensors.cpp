#include "graph/offload/saved_tensors.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

bool in_backward(const Op& op) {
  return op.phase == Phase::kBackward || op.phase == Phase::kRecompute;
}

// The first op of forward that saves each tensor for a node that `options` names, in that order.
std::vector<SavedTensor> saves(const StepGraph& graph, const ActivationOffload& options) {
  std::vector<bool> listed;
  if (options.which == ActivationOffload::Which::kNamed) {
    listed.assign(graph.tensors.size(), false);
    for (const TensorId tensor : options.named) listed[index(tensor)] = true;
  }
  const auto named = [&](const SavedBy& save) {
    const Op& op = graph.op(save.op);
    const bool block_input = op.layer >= 0 && graph.tensor(save.tensor).layer != op.layer;
    switch (options.which) {
      case ActivationOffload::Which::kSaved:
        return true;
      case ActivationOffload::Which::kBlockInputs:
        return block_input || graph.name(save.node) == "checkpoint";
      case ActivationOffload::Which::kModules:
        return (options.modules >> static_cast<unsigned>(op.module) & 1u) != 0;
      case ActivationOffload::Which::kNamed:
        return static_cast<bool>(listed[index(save.tensor)]);
    }
    throw InternalError("a choice of activations is one of those known");
  };
  std::vector<bool> seen(graph.tensors.size(), false);
  std::vector<SavedTensor> found;
  for (const SavedBy& save : graph.saves) {
    const Tensor& tensor = graph.tensor(save.tensor);
    if (graph.op(save.op).phase != Phase::kForward) continue;
    if (tensor.initial() || tensor.persistent() || tensor.category == Category::kConstants)
      continue;
    if (tensor.bytes < options.larger_than || tensor.bytes.count == 0) continue;
    if (seen[index(save.tensor)] || !named(save)) continue;
    seen[index(save.tensor)] = true;
    found.push_back({.tensor = save.tensor,
                     .saved = save.op,
                     .last_forward = save.op,
                     .first_backward = kNoOp,
                     .last_backward = tensor.last_use});
  }
  return found;
}

void find_uses(const StepGraph& graph, std::vector<SavedTensor>& tensors) {
  std::vector<std::uint32_t> row(graph.tensors.size(), kNoIndex);
  for (std::uint32_t i = 0; i < tensors.size(); ++i) row[index(tensors[i].tensor)] = i;
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId op{i};
    const auto use = [&](TensorId tensor, bool writes) {
      if (row[index(tensor)] == kNoIndex) return;
      SavedTensor& x = tensors[row[index(tensor)]];
      if (in_backward(graph.op(op))) {
        x.first_backward = std::min(x.first_backward, op);
      } else {
        x.last_forward = std::max(x.last_forward, op);
        if (writes) x.saved = std::max(x.saved, op);
      }
    };
    for (const TensorId tensor : graph.inputs_of(op)) use(tensor, false);
    for (const TensorId tensor : graph.outputs_of(op)) use(tensor, true);
    for (const TensorId tensor : graph.updated_by(op)) use(tensor, true);
  }
}

// Nothing of backward reads it, or the script holds on to it.
bool stays_anyway(const StepGraph& graph, const SavedTensor& x) {
  return x.first_backward == kNoOp || !in_backward(graph.op(x.last_backward)) ||
         x.last_forward >= x.first_backward;
}

}  // namespace

std::vector<SavedTensor> saved_tensors(const StepGraph& graph, const ActivationOffload& options) {
  std::vector<SavedTensor> tensors = saves(graph, options);
  find_uses(graph, tensors);
  std::erase_if(tensors, [&](const SavedTensor& x) { return stays_anyway(graph, x); });

  const std::vector<Visit> walk = visits(graph);
  const std::vector<std::uint32_t> visit_of = visit_of_each_op(graph, walk);
  std::erase_if(tensors, [&](SavedTensor& x) {
    x.visit = visit_of[index(x.first_backward)];
    const std::int64_t into_backward = std::int64_t{x.visit} - walk[x.visit].start;
    if (options.synchronous) {
      x.fetch_after = OpId{index(x.first_backward) - 1};
    } else {
      x.fetch_after = before_visit(walk, x.visit, std::min(options.prefetch, into_backward));
    }
    return options.keep_last > 0 && into_backward <= options.keep_last;
  });
  std::ranges::stable_sort(tensors, {}, &SavedTensor::saved);
  return tensors;
}

}  // namespace tidemark
