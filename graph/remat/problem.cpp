#include "graph/remat/problem.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace tidemark::remat {

namespace {

[[noreturn]] void refuse(OpIndex op, const std::string& why) {
  throw std::invalid_argument("op " + std::to_string(op) + ": " + why);
}

}  // namespace

TensorIndex Problem::add_tensor(std::int64_t bytes, bool keep) {
  if (bytes < 0) throw std::invalid_argument("a tensor of less than 0 bytes");
  tensors_.push_back({.bytes = bytes, .producer = kNone, .keep = keep});
  return tensor_count() - 1;
}

OpIndex Problem::add_op(const Op& op, std::span<const TensorIndex> inputs,
                        std::span<const TensorIndex> outputs) {
  const OpIndex self = op_count();
  if (op.cost < 0 || op.workspace < 0) refuse(self, "cost or workspace below 0");
  if (!op.backward && backward_begin_ < self) refuse(self, "a forward op after a backward one");
  for (const TensorIndex tensor : outputs) {
    if (tensor >= tensor_count()) refuse(self, "makes a tensor that is not there");
    if (tensors_[tensor].producer != kNone) refuse(self, "makes a tensor that was made before");
    tensors_[tensor].producer = self;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] >= tensor_count()) refuse(self, "reads a tensor that is not there");
    if (tensors_[inputs[i]].producer == self) refuse(self, "reads what it makes");
    const auto before = inputs.first(i);
    if (std::find(before.begin(), before.end(), inputs[i]) != before.end()) {
      refuse(self, "reads a tensor twice");
    }
  }
  ops_.push_back(op);
  if (op.backward) ops_.back().recomputable = false;
  inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
  outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
  input_first_.push_back(static_cast<std::uint32_t>(inputs_.size()));
  output_first_.push_back(static_cast<std::uint32_t>(outputs_.size()));
  if (!op.backward) backward_begin_ = self + 1;
  if (op.block != kNone) block_count_ = std::max(block_count_, op.block + 1);
  base_time_ += op.cost;
  return self;
}

Sequence keep_everything(const Problem& problem) {
  Sequence sequence(problem.op_count());
  std::iota(sequence.begin(), sequence.end(), OpIndex{0});
  return sequence;
}

Readers readers(const Problem& problem) {
  Readers result;
  result.first.assign(std::size_t{problem.tensor_count()} + 1, 0);
  for (OpIndex op = 0; op < problem.op_count(); ++op) {
    for (const TensorIndex tensor : problem.inputs(op)) ++result.first[tensor + 1];
  }
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  result.ops.resize(result.first.back());
  auto next = result.first;
  for (OpIndex op = 0; op < problem.op_count(); ++op) {
    for (const TensorIndex tensor : problem.inputs(op)) result.ops[next[tensor]++] = op;
  }
  return result;
}

}  // namespace tidemark::remat
