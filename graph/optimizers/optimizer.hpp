#pragma once
// What an optimizer's step does to its tensors. To add one: a file here, a row in optimizers.cpp, a
// value of Optimizer in graph/model.hpp.

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "graph/tape.hpp"

namespace tidemark {

// One tensor that the optimizer updates: the parameter itself, or its fp32 master copy.
struct Updated {
  Value target;
  Value gradient;
  std::array<Value, 2> states;  // AdamW: first and second moment; SGD: momentum buffer
};

struct OptimizerRow {
  Optimizer optimizer;
  std::string_view name;
  std::string_view summary;
  int states;  // tensors of the target's size that it keeps between steps
  void (*step)(Tape& tape, std::vector<Updated>& tensors);
  bool makes_states = false;  // step() makes the states itself: the first ones, or all anew
};

std::span<const OptimizerRow> optimizers();
const OptimizerRow& row_of(Optimizer optimizer);

// AdamW as a training script writes it with plain tensor arithmetic (adamw_by_hand.cpp).
const OptimizerRow& adamw_by_hand();

// Launches of a multi-tensor kernel over lists of `depth` tensors each (aten/native/cuda/
// MultiTensorApply.cuh: at most 110, 64, 48, 36, 30 tensors and 320 chunks of 65536 elements a
// launch).
std::int32_t multi_tensor_launches(int depth, const std::vector<Updated>& tensors);

// One op over the whole list; `touch` declares what it reads, writes and makes, tensor by tensor.
template <class Touch>
void multi_tensor_op(Tape& tape, OpKind kind, int depth, std::vector<Updated>& tensors,
                     Touch touch) {
  std::int64_t elements = 0;
  for (const Updated& x : tensors) elements += x.target.shape().elements();
  tape.begin(kind, tensors.front().target.dtype(),
             {.flops = Flops(elements), .kernels = multi_tensor_launches(depth, tensors)});
  for (Updated& x : tensors) touch(x);
}

}  // namespace tidemark
