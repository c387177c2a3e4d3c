#pragma once
// Step graphs written by hand, an op at a time.

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/step_graph.hpp"

namespace tidemark::test {

struct SmallOp {
  Phase phase = Phase::kForward;
  std::vector<TensorId> reads = {};
  std::vector<TensorId> makes = {};
  std::vector<TensorId> updates = {};
  std::vector<TensorId> holds = {};
  Bytes streams = Bytes(0);  // read from HBM: what its time depends on
};

class SmallStep {
 public:
  // A storage that is there before the step and after it.
  TensorId persistent(Bytes bytes, Category category = Category::kParameters) {
    return add(bytes, category, true);
  }

  // A storage that an op makes or that is there before the step; alive up to the last op that lists
  // it.
  TensorId tensor(Bytes bytes, Category category = Category::kActivations) {
    return add(bytes, category, false);
  }

  // `tensor` is there after the step.
  void keep(TensorId tensor) { kept_[index(tensor)] = true; }

  OpId op(const SmallOp& small) {
    const OpId id{static_cast<std::uint32_t>(graph_.ops.size())};
    Op op = rows();
    op.phase = small.phase;
    op.work = WorkClass::kStream;
    op.dtype = DType::kBf16;
    op.bytes_read = small.streams;
    graph_.ops.push_back(op);
    append(graph_.inputs, small.reads, id);
    append(graph_.held, small.holds, id);
    append(graph_.outputs, small.makes, id);
    append(graph_.updated, small.updates, id);
    for (const TensorId made : small.makes) graph_.tensors[index(made)].producer = id;
    return id;
  }

  // A parameter of `elements` with a weight there all the time and a gradient that is made in the
  // step and stays, each of `width` bytes an element.
  Parameter& parameter(std::int64_t elements, std::int64_t width = 2) {
    const TensorId weight = persistent(Bytes(elements * width), Category::kParameters);
    const TensorId gradient = tensor(Bytes(elements * width), Category::kGradients);
    keep(gradient);
    graph_.parameter_count += elements;
    graph_.parameters.push_back({.weight = weight, .gradient = gradient, .elements = elements});
    return graph_.parameters.back();
  }

  StepGraph finish() {
    graph_.ops.push_back(rows());
    return std::move(graph_);
  }

 private:
  Op rows() const {
    Op op;
    op.first_input = static_cast<std::uint32_t>(graph_.inputs.size());
    op.first_held = static_cast<std::uint32_t>(graph_.held.size());
    op.first_output = static_cast<std::uint32_t>(graph_.outputs.size());
    op.first_updated = static_cast<std::uint32_t>(graph_.updated.size());
    return op;
  }

  TensorId add(Bytes bytes, Category category, bool kept) {
    Tensor tensor;
    tensor.bytes = bytes;
    tensor.category = category;
    graph_.tensors.push_back(tensor);
    kept_.push_back(kept);
    return TensorId{static_cast<std::uint32_t>(graph_.tensors.size() - 1)};
  }

  void append(std::vector<TensorId>& row, const std::vector<TensorId>& tensors, OpId op) {
    row.insert(row.end(), tensors.begin(), tensors.end());
    for (const TensorId tensor : tensors) {
      if (!kept_[index(tensor)]) graph_.tensors[index(tensor)].last_use = op;
    }
  }

  StepGraph graph_;
  std::vector<bool> kept_;
};

}  // namespace tidemark::test
