#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/program_builder.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

// When tensors are in HBM. One that leaves and comes back has a buffer for each stay:
//
//   op            3 makes g     7 adds to g     9 reads g
//   leaves after  3             7
//   stay          0             1               2            buffers g, g', g''
//
// The buffer of stay 0 is that of the tensor's own number; later ones are made when an op first
// reads or writes the tensor there, and whoever brings the bytes back must use them too.
class Stays {
 public:
  struct Stay {
    BufferId buffer{};
    OpId first_use{};
    OpId last_use{};
  };

  explicit Stays(const StepGraph& graph) : row_(graph.tensors.size(), kNoIndex) {}

  // After `op` the bytes are elsewhere. In ascending order of ops, before any op is asked for.
  void leave(TensorId tensor, OpId op) { moves(tensor).leaves_after.push_back(op); }
  // The bytes are elsewhere before the step.
  void arrive(TensorId tensor) { moves(tensor).arrives = true; }

  bool arrives(TensorId tensor) const {
    const Moves* found = find(tensor);
    return found != nullptr && found->arrives;
  }
  bool leaves(TensorId tensor) const {
    const Moves* found = find(tensor);
    return found != nullptr && !found->leaves_after.empty();
  }

  // The buffer that an op which reads or writes the tensor uses. Ops in ascending order.
  BufferId used(TensorId tensor, OpId op, const StepGraph& graph, ProgramBuilder& builder);
  // The same for an op that only holds it; nothing where it has left for good.
  std::optional<BufferId> held(TensorId tensor, OpId op) const;

  // Number `n` of its stays; null where no op uses the tensor then.
  const Stay* stay(TensorId tensor, std::size_t n) const;

 private:
  struct Moves {
    bool arrives = false;
    std::vector<OpId> leaves_after;
    std::vector<std::optional<Stay>> stays;
  };
  Moves& moves(TensorId tensor);
  const Moves* find(TensorId tensor) const {
    const std::uint32_t row = row_[index(tensor)];
    return row == kNoIndex ? nullptr : &moves_[row];
  }
  static std::size_t number(const Moves& moves, OpId op);

  std::vector<std::uint32_t> row_;  // of moves_, by tensor
  std::vector<Moves> moves_;
};

}  // namespace tidemark
