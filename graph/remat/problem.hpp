#pragma once
// What a planner of checkpoint placement sees of a training step: ops in the order in which they
// run (forward, then backward), the tensors between them, and nothing of devices or models.
//
//   op 0 fwd  reads x       makes a          a sequence that keeps everything:   0 1 2 3
//   op 1 fwd  reads a       makes b          one that makes `a` twice:           0 1 2 0 3
//   op 2 bwd  reads b       makes db
//   op 3 bwd  reads a db    makes dx
//
// A plan is in the end a Sequence: op indices, with repeats. Memory follows from it alone
// (referee.hpp).

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tidemark::remat {

using OpIndex = std::uint32_t;
using TensorIndex = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffffu;

struct Op {
  std::int64_t cost = 0;       // picoseconds
  std::int64_t workspace = 0;  // bytes, alive while the op runs
  bool backward = false;
  bool recomputable =
      true;  // may run again: not so for in-place and random ops; ignored in backward
  std::uint32_t block = kNone;  // of the model; the same in forward and backward
};

struct Tensor {
  std::int64_t bytes = 0;
  OpIndex producer = kNone;  // kNone: always there and not counted (weights, inputs)
  bool keep = false;         // lives to the end, once it was made
};

using Sequence = std::vector<OpIndex>;

class Problem {
 public:
  // `producer` of a tensor is set by the op that makes it.
  TensorIndex add_tensor(std::int64_t bytes, bool keep = false);
  // In the order in which the ops run. A tensor has at most one producer, which comes before its
  // readers; a tensor may be listed once as an input of an op. Backward ops never run
  // again, whatever `recomputable` says. Throws std::invalid_argument where that does not hold.
  OpIndex add_op(const Op& op, std::span<const TensorIndex> inputs,
                 std::span<const TensorIndex> outputs);

  std::uint32_t op_count() const { return static_cast<std::uint32_t>(ops_.size()); }
  std::uint32_t tensor_count() const { return static_cast<std::uint32_t>(tensors_.size()); }
  const Op& op(OpIndex op) const { return ops_[op]; }
  const Tensor& tensor(TensorIndex tensor) const { return tensors_[tensor]; }
  std::span<const TensorIndex> inputs(OpIndex op) const { return row(input_first_, inputs_, op); }
  std::span<const TensorIndex> outputs(OpIndex op) const {
    return row(output_first_, outputs_, op);
  }

  // The first backward op; op_count() when there is none.
  OpIndex backward_begin() const { return backward_begin_; }
  // One more than the largest block index.
  std::uint32_t block_count() const { return block_count_; }
  // Picoseconds of every op run once.
  std::int64_t base_time() const { return base_time_; }

 private:
  std::span<const TensorIndex> row(const std::vector<std::uint32_t>& first,
                                   const std::vector<TensorIndex>& values, OpIndex op) const {
    return std::span(values).subspan(first[op], first[op + 1] - first[op]);
  }

  std::vector<Op> ops_;
  std::vector<Tensor> tensors_;
  std::vector<std::uint32_t> input_first_{0}, output_first_{0};
  std::vector<TensorIndex> inputs_, outputs_;
  OpIndex backward_begin_ = 0;
  std::uint32_t block_count_ = 0;
  std::int64_t base_time_ = 0;
};

// Every op once, in order.
Sequence keep_everything(const Problem& problem);

// For each tensor the ops that read it, in order: entry t of a CSR.
struct Readers {
  std::vector<std::uint32_t> first;
  std::vector<OpIndex> ops;

  std::span<const OpIndex> of(TensorIndex tensor) const {
    return std::span(ops).subspan(first[tensor], first[tensor + 1] - first[tensor]);
  }
};

Readers readers(const Problem& problem);

}  // namespace tidemark::remat
