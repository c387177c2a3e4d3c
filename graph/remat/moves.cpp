#include "graph/remat/moves.hpp"

#include <algorithm>

#include "graph/remat/referee.hpp"

namespace tidemark::remat {

namespace {

constexpr std::size_t kNever = static_cast<std::size_t>(-1);

// Where backward begins: with it, or with what runs again for its sake.
std::size_t backward_of(const Problem& problem, const Sequence& sequence) {
  OpIndex next = 0;
  std::size_t at = 0;
  while (at < sequence.size() && sequence[at] == next && !problem.op(next).backward) ++at, ++next;
  return at;
}

// For each position from `begin` on, where the visit in front of its own begins.
std::vector<std::size_t> visits_ahead(const Problem& problem, const Sequence& sequence,
                                      std::size_t begin) {
  std::vector<std::size_t> ahead(sequence.size(), begin);
  std::size_t own = begin, before = begin;
  for (std::size_t at = begin; at < sequence.size(); ++at) {
    if (problem.op(sequence[at]).block != problem.op(sequence[own]).block) {
      before = own;
      own = at;
    }
    ahead[at] = before;
  }
  return ahead;
}

}  // namespace

std::int64_t peak_with_moves(const Problem& problem, const Sequence& sequence,
                             std::span<const TensorIndex> moved) {
  const std::vector<std::int64_t> live = live_bytes(problem, sequence);
  const std::size_t begin = backward_of(problem, sequence);
  const std::vector<std::size_t> ahead = visits_ahead(problem, sequence, begin);
  std::vector<std::size_t> last(problem.tensor_count(), 0);       // use in front of backward
  std::vector<std::size_t> next(problem.tensor_count(), kNever);  // the first in backward
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    const auto use = [&](TensorIndex tensor) {
      if (at < begin) last[tensor] = at;
      if (at >= begin) next[tensor] = std::min(next[tensor], at);
    };
    for (const TensorIndex tensor : problem.inputs(sequence[at])) use(tensor);
    for (const TensorIndex tensor : problem.outputs(sequence[at])) use(tensor);
  }
  std::vector<std::int64_t> change(sequence.size() + 1, 0);  // of what is away
  for (const TensorIndex tensor : moved) {
    if (next[tensor] == kNever) continue;
    change[last[tensor] + 1] += problem.tensor(tensor).bytes;
    change[ahead[next[tensor]]] -= problem.tensor(tensor).bytes;
  }
  std::int64_t peak = 0, away = 0;
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    away += change[at];
    peak = std::max(peak, live[at] - away);
  }
  return peak;
}

}  // namespace tidemark::remat
