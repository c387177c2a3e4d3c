#include "graph/remat/lagrange_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "graph/remat/cut_bound.hpp"
#include "graph/remat/keep_cut.hpp"

namespace tidemark::remat {

std::optional<std::int64_t> lagrange_bound(const Problem& problem, OpIndex op,
                                           std::int64_t budget) {
  std::vector<OpIndex> ops(problem.backward_begin());
  std::iota(ops.begin(), ops.end(), OpIndex{0});
  std::vector<Held> held(problem.tensor_count(), Held::kChoose);
  for (const TensorIndex tensor : problem.inputs(op)) held[tensor] = Held::kFree;
  std::vector<char> listed(problem.tensor_count(), 0);
  std::vector<TensorIndex> needed;
  for (OpIndex later = op + 1; later < problem.op_count(); ++later) {
    for (const TensorIndex tensor : problem.inputs(later)) {
      const OpIndex producer = problem.tensor(tensor).producer;
      if (producer == kNone || problem.op(producer).backward || listed[tensor] != 0) continue;
      listed[tensor] = 1;
      needed.push_back(tensor);
    }
  }
  const KeepProblem what{&problem, ops, needed, held};
  const std::int64_t room = budget - mandatory_bytes(problem, op);
  KeepSet more = evaluate(what, needed);
  if (more.bytes <= room) return 0;
  KeepSet fewer = keep_at_price(what, static_cast<double>(problem.base_time() + 1));
  if (fewer.bytes > room) return {};
  for (;;) {
    const double price =
        static_cast<double>(fewer.cost - more.cost) / static_cast<double>(more.bytes - fewer.bytes);
    if (!(price > 0)) return more.cost;
    KeepSet between = keep_at_price(what, price);
    const auto total = [&](const KeepSet& set) {
      return static_cast<double>(set.cost) + price * static_cast<double>(set.bytes);
    };
    if (total(between) >= total(more) * (1 - 1e-9)) {
      const double bound = total(between) - price * static_cast<double>(room);
      return static_cast<std::int64_t>(std::floor(std::max(0.0, bound) * (1 - 1e-9)));
    }
    (between.bytes > room ? more : fewer) = std::move(between);
  }
}

std::optional<std::int64_t> best_lagrange_bound(const Problem& problem, std::int64_t budget,
                                                std::uint32_t count) {
  std::int64_t best = 0;
  const OpIndex begin = problem.backward_begin();
  for (OpIndex op = begin; op < std::min(begin + count, problem.op_count()); ++op) {
    const std::optional<std::int64_t> bound = lagrange_bound(problem, op, budget);
    if (!bound) return {};
    best = std::max(best, *bound);
  }
  return best;
}

}  // namespace tidemark::remat
