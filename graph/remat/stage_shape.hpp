#pragma once
// Where a problem's tensors are read, seen from a stage of a chain; and which stages are the same.

#include <cstdint>
#include <vector>

#include "graph/remat/chain.hpp"

namespace tidemark::remat {

class StageUses {
 public:
  StageUses(const Problem& problem, const Chain& chain);

  // The last op that reads the tensor, or the last op of all where it is kept; kNone: none.
  OpIndex last_reader(TensorIndex tensor) const { return last_[tensor]; }

  // Of what a stage's forward makes: read by another stage, the epilogue or the rest.
  bool leaves(std::size_t stage, TensorIndex tensor) const;
  // And has to stay alive behind the epilogue.
  bool stays(std::size_t stage, TensorIndex tensor) const;
  bool read_by_own_backward(std::size_t stage, TensorIndex tensor) const;
  // By forward ops behind the stage's.
  bool read_by_later_forward(std::size_t stage, TensorIndex tensor) const;

  // Stages with equal shapes can share a model.
  std::vector<std::int64_t> shape(std::size_t stage) const;

 private:
  const Problem& problem_;
  const Chain& chain_;
  Readers readers_;
  std::vector<OpIndex> last_;
};

}  // namespace tidemark::remat
