#include "graph/offload/departures.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"

namespace tidemark {

Departures::Moves& Departures::moves(TensorId tensor) {
  std::uint32_t& row = row_[index(tensor)];
  if (row == kNoIndex) {
    row = static_cast<std::uint32_t>(moves_.size());
    moves_.push_back({.tensor = tensor, .leaves_after = {}, .uses = {}});
  }
  return moves_[row];
}

void Departures::divide(const StepGraph& graph, Stays& stays) {
  if (moves_.empty()) return;
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId op{i};
    const auto use = [&](TensorId tensor) {
      if (row_[index(tensor)] == kNoIndex) return;
      Moves& all = moves_[row_[index(tensor)]];
      const auto left = std::ranges::lower_bound(all.leaves_after, op);
      const auto n = static_cast<std::size_t>(left - all.leaves_after.begin());
      while (all.uses.size() <= n) all.uses.push_back({op, op});
      all.uses[n].last = op;
    };
    for (const TensorId tensor : graph.inputs_of(op)) use(tensor);
    for (const TensorId tensor : graph.outputs_of(op)) use(tensor);
    for (const TensorId tensor : graph.updated_by(op)) use(tensor);
  }
  for (const Moves& all : moves_) {
    const Tensor& tensor = graph.tensor(all.tensor);
    std::vector<Stay> found = all.uses;
    ensure(found.size() >= all.leaves_after.size(), "a tensor is used before each time it leaves");
    if (tensor.initial() && !all.arrives) found.front().first = kNoOp;
    for (std::size_t n = 0; n < found.size(); ++n) {
      found[n].last = n < all.leaves_after.size() ? all.leaves_after[n] : tensor.last_use;
    }
    stays.divide(all.tensor, found);
  }
}

Stay Departures::uses(TensorId tensor, std::size_t n) const {
  const std::uint32_t row = row_[index(tensor)];
  ensure(row != kNoIndex && n < moves_[row].uses.size(), "what comes back is read or written");
  return moves_[row].uses[n];
}

}  // namespace tidemark
