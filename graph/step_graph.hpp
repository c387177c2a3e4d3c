#pragma once
// The meaning of one training step on one rank: operations in the order in which the framework
// issues them, and the storages that they read and make. Immutable once lower() has returned it.
//
// Running example: y = linear(x, w); z = gelu(y); backward of both. gelu saves y.
//
//   op  0 addmm   1 gelu   2 gelu_backward   3 mm (dx)   4 mm (dw)
//       reads x w  reads y  reads dz, y       reads dy,w  reads dy,x
//       makes y    makes z  makes dy          makes dx    makes dw
//
//   tensor y: producer 0, last use 2, saved. dy: producer 2, last use 4.
//
// "Held" storages are alive during an op that does not read them: a variable of the training script
// or a node of the autograd graph still refers to them, and lets go right after that op.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.hpp"
#include "graph/op.hpp"
#include "graph/tensor.hpp"

namespace tidemark {

// A trainable parameter and what belongs to it. Tensors are kNoTensor where there is none.
struct Parameter {
  TensorId weight{};
  TensorId gradient = kNoTensor;  // as it stands when backward ends
  OpId gradient_ready = kNoOp;    // the op after which the gradient is complete
  TensorId master = kNoTensor;
  TensorId gradient_master = kNoTensor;  // the fp32 copy that a mixed-precision optimizer makes
  std::array<TensorId, 2> states = {kNoTensor, kNoTensor};  // moments that come for the update
  UpdateOn update = UpdateOn::kElsewhere;
  std::int64_t elements = 0;
  std::int16_t layer = -1;
};

// A parameter's gradient as one pass over a micro-batch leaves it.
struct PassGradient {
  std::uint32_t parameter = 0;  // row of StepGraph::parameters
  TensorId tensor{};
  OpId ready = kNoOp;  // the op after which it is complete
};

// An autograd node keeps a storage from forward (or a replay) until it has run.
struct SavedBy {
  TensorId tensor{};
  NameId node{};  // the node's derivative rule, "layer_norm"
  OpId op{};      // the last op issued when it was saved
};

struct StepGraph {
  std::vector<Op> ops;  // in issue order; one sentinel at the end closes the rows
  std::vector<Tensor> tensors;
  std::vector<TensorId> inputs;   // storages read, by op
  std::vector<TensorId> held;     // alive, not read, last time during this op
  std::vector<TensorId> outputs;  // storages made
  std::vector<TensorId> updated;  // storages written in place
  std::vector<Parameter> parameters;
  // In order of passes; empty where gradients stay from pass to pass.
  std::vector<PassGradient> pass_gradients;
  std::vector<SavedBy> saves;  // in the order in which nodes were made
  std::vector<std::string> names;
  std::int64_t parameter_count = 0;  // elements, extra_parameters included
  Flops model_flops;                 // matmuls of forward and backward, without recompute
  bool dropout_runs_once = false;    // nothing may run its ops again

  std::size_t op_count() const { return ops.size() - 1; }
  const Op& op(OpId id) const { return ops[index(id)]; }
  const Tensor& tensor(TensorId id) const { return tensors[index(id)]; }
  std::string_view name(NameId id) const { return names[index(id)]; }

  std::span<const TensorId> inputs_of(OpId id) const {
    return row(inputs, op(id).first_input, ops[index(id) + 1].first_input);
  }
  std::span<const TensorId> held_by(OpId id) const {
    return row(held, op(id).first_held, ops[index(id) + 1].first_held);
  }
  std::span<const TensorId> outputs_of(OpId id) const {
    return row(outputs, op(id).first_output, ops[index(id) + 1].first_output);
  }
  std::span<const TensorId> updated_by(OpId id) const {
    return row(updated, op(id).first_updated, ops[index(id) + 1].first_updated);
  }

 private:
  static std::span<const TensorId> row(const std::vector<TensorId>& all, std::uint32_t first,
                                       std::uint32_t last) {
    return {all.data() + first, all.data() + last};
  }
};

}  // namespace tidemark
