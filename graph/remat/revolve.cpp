#include "graph/remat/revolve.hpp"

#include <algorithm>
#include <limits>

namespace tidemark::remat {

std::int64_t binomial(std::int64_t n, std::int64_t k) {
  if (k < 0 || k > n) return 0;
  k = std::min(k, n - k);
  std::int64_t result = 1;
  for (std::int64_t i = 1; i <= k; ++i) {
    if (result > std::numeric_limits<std::int64_t>::max() / (n - k + i)) {
      return std::numeric_limits<std::int64_t>::max();
    }
    result = result * (n - k + i) / i;  // a binomial after each factor
  }
  return result;
}

std::int64_t revolve_repeats(std::int64_t steps, std::int64_t checkpoints) {
  std::int64_t rounds = 0;
  while (binomial(checkpoints + rounds, checkpoints) < steps) ++rounds;
  return rounds * steps - binomial(checkpoints + rounds, checkpoints + 1);
}

std::int64_t revolve_advance(std::int64_t steps, std::int64_t checkpoints) {
  if (checkpoints == 1) return steps - 1;
  const std::int64_t best = revolve_repeats(steps, checkpoints);
  for (std::int64_t first = 1; first < steps - 1; ++first) {
    if (first + revolve_repeats(first, checkpoints) +
            revolve_repeats(steps - first, checkpoints - 1) ==
        best) {
      return first;
    }
  }
  return steps - 1;
}

Sequence revolve(const Problem& problem, const Chain& chain, std::int64_t checkpoints) {
  ChainWriter writer(problem, chain);
  const auto undo = [&](const auto& self, std::size_t start, std::int64_t steps,
                        std::int64_t free) -> void {
    while (steps > 1) {
      const std::int64_t first = revolve_advance(steps, free);
      for (std::int64_t i = 0; i < first; ++i) writer.forward(start + static_cast<std::size_t>(i));
      self(self, start + static_cast<std::size_t>(first), steps - first,
           std::max<std::int64_t>(free - 1, 1));
      steps = first;
    }
    writer.forward(start);
    writer.backward(start);
  };
  undo(undo, 0, static_cast<std::int64_t>(chain.size()), checkpoints);
  return std::move(writer).finish();
}

}  // namespace tidemark::remat
