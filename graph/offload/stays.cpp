#include "graph/offload/stays.hpp"

#include <algorithm>

namespace tidemark {

Stays::Moves& Stays::moves(TensorId tensor) {
  std::uint32_t& row = row_[index(tensor)];
  if (row == kNoIndex) {
    row = static_cast<std::uint32_t>(moves_.size());
    moves_.emplace_back();
  }
  return moves_[row];
}

// How often it has left before `op`.
std::size_t Stays::number(const Moves& moves, OpId op) {
  const auto first = std::ranges::lower_bound(moves.leaves_after, op, {}, [](OpId x) { return x; });
  return static_cast<std::size_t>(first - moves.leaves_after.begin());
}

BufferId Stays::used(TensorId tensor, OpId op, const StepGraph& graph, ProgramBuilder& builder) {
  if (row_[index(tensor)] == kNoIndex) return BufferId{index(tensor)};
  Moves& all = moves(tensor);
  const std::size_t n = number(all, op);
  if (all.stays.size() <= n) all.stays.resize(n + 1);
  std::optional<Stay>& stay = all.stays[n];
  if (!stay) {
    const Tensor& bytes = graph.tensor(tensor);
    const bool stays_to_the_end = n == all.leaves_after.size() && bytes.persistent();
    const BufferId buffer = n == 0 ? BufferId{index(tensor)}
                                   : builder.add_buffer({.bytes = bytes.bytes,
                                                         .tier = Tier::kHbm,
                                                         .category = bytes.category,
                                                         .persistent = stays_to_the_end,
                                                         .tensor = tensor});
    stay = Stay{buffer, op, op};
  }
  stay->last_use = op;
  return stay->buffer;
}

std::optional<BufferId> Stays::held(TensorId tensor, OpId op) const {
  const Moves* all = find(tensor);
  if (all == nullptr) return BufferId{index(tensor)};
  const std::size_t n = number(*all, op);
  if (n == 0) return BufferId{index(tensor)};
  const Stay* stay = this->stay(tensor, n);
  if (stay == nullptr) return std::nullopt;
  return stay->buffer;
}

const Stays::Stay* Stays::stay(TensorId tensor, std::size_t n) const {
  const Moves* all = find(tensor);
  if (all == nullptr || n >= all->stays.size() || !all->stays[n]) return nullptr;
  return &*all->stays[n];
}

}  // namespace tidemark
