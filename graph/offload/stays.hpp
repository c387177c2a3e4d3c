#pragma once
// When each tensor is in HBM. A tensor that is moved is there in pieces, its stays; each has a
// buffer of its own. What fills and empties the buffers is up to whoever moves the tensor.
//
// Running example: y is made by op 0, read by ops 1 and 5; an autograd node holds it from 1 to 5.
//
//   op         0 makes   1 reads   2 holds   3   4   5 reads
//   not moved  |-------------------------------------------|   one buffer, in use from 0 to 5
//   moved      |-----------------|                  |-------|  stays {0, 1} and {5, 5}

#include <cstdint>
#include <span>
#include <vector>

#include "graph/ids.hpp"
#include "graph/program_builder.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

// From its first to its last use, and in between. kNoOp as `first`: it is there before the step; as
// `last`: it is there after the step.
struct Stay {
  OpId first{};
  OpId last{};
};

class Stays {
 public:
  // Until told otherwise every tensor has one stay: as the graph says.
  explicit Stays(const StepGraph& graph);

  // `tensor` is in HBM in these stays only: at least one, disjoint, in the order of ops. A tensor
  // is divided once.
  void divide(TensorId tensor, std::span<const Stay> stays);
  bool divided(TensorId tensor) const { return row_[index(tensor)] != kNoIndex; }

  // Adds buffer i for the first stay of tensor i (in use by nothing if it has none), and then one
  // for each further stay.
  void add_buffers(ProgramBuilder& builder, const StepGraph& graph);

  // The buffer that holds `tensor` during `op`; kNoBuffer: it is not in HBM then. Buffers must have
  // been added.
  BufferId buffer(TensorId tensor, OpId op) const;
  // Of its k-th stay.
  BufferId buffer_of_stay(TensorId tensor, std::size_t k) const;

 private:
  struct Placed {
    Stay stay;
    BufferId buffer = kNoBuffer;
  };

  std::vector<std::uint32_t> row_;  // by tensor: of first_; kNoIndex: not divided
  std::vector<std::uint32_t> first_{0};
  std::vector<Placed> placed_;
};

}  // namespace tidemark
