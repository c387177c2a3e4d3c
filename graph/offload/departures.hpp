#pragma once

#include <cstdint>
#include <vector>

#include "graph/offload/stays.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

// Tensors that leave HBM after certain ops and are back whenever another op reads or writes them:
//
//   op            3 makes g     7 adds to g     9 reads g, lets go
//   leaves after  3             7
//   stay          {3, 3}        {7, 7}          {9, 9}
class Departures {
 public:
  explicit Departures(const StepGraph& graph) : row_(graph.tensors.size(), kNoIndex) {}

  // After `op` the bytes are elsewhere. In ascending order of ops for each tensor.
  void leave(TensorId tensor, OpId op) { moves(tensor).leaves_after.push_back(op); }
  // The bytes are elsewhere before the step.
  void arrive(TensorId tensor) { moves(tensor).arrives = true; }

  // Finds the stays and tells `stays` of them.
  void divide(const StepGraph& graph, Stays& stays);

  // The first and the last op that reads or writes the tensor in its n-th stay, which it must have.
  Stay uses(TensorId tensor, std::size_t n) const;

 private:
  struct Moves {
    TensorId tensor{};
    bool arrives = false;
    std::vector<OpId> leaves_after;
    std::vector<Stay> uses;  // by stay
  };
  Moves& moves(TensorId tensor);

  std::vector<std::uint32_t> row_;  // of moves_, by tensor
  std::vector<Moves> moves_;
};

}  // namespace tidemark
