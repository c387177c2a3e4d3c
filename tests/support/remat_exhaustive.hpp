#pragma once
// The least recomputation of all sequences of a small problem, by trying all of them: a shortest
// path over what has run for the first time and which tensors are alive. Up to 32 tensors.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::test {

// Nothing: no sequence has a peak of at most `budget`. `in_order`: of sequences alone in which the
// repeats between two first runs are in the order of the ops.
inline std::optional<std::int64_t> least_recomputation(const remat::Problem& problem,
                                                       std::int64_t budget, bool in_order = false) {
  // Next first run, the least op that may run before it, alive tensors.
  using State = std::tuple<remat::OpIndex, remat::OpIndex, std::uint32_t>;
  using Entry = std::pair<std::int64_t, State>;
  const auto mask = [&](std::span<const remat::TensorIndex> tensors) {
    std::uint32_t result = 0;
    for (const remat::TensorIndex tensor : tensors) {
      if (problem.tensor(tensor).producer != remat::kNone) result |= 1u << tensor;
    }
    return result;
  };
  const auto bytes = [&](std::uint32_t alive) {
    std::int64_t sum = 0;
    for (remat::TensorIndex t = 0; t < problem.tensor_count(); ++t) {
      if ((alive >> t & 1) != 0) sum += problem.tensor(t).bytes;
    }
    return sum;
  };
  // A tensor is of no use once the op after this one is next; `once`: not to be dropped before
  // that.
  std::vector<remat::OpIndex> useful_up_to(problem.tensor_count(), 0);
  std::uint32_t once = 0;
  for (remat::TensorIndex t = 0; t < problem.tensor_count(); ++t) {
    const remat::OpIndex producer = problem.tensor(t).producer;
    if (problem.tensor(t).keep) useful_up_to[t] = problem.op_count();
    if (producer != remat::kNone && !problem.op(producer).recomputable) once |= 1u << t;
  }
  for (remat::OpIndex op = 0; op < problem.op_count(); ++op) {
    for (const remat::TensorIndex tensor : problem.inputs(op)) {
      useful_up_to[tensor] =
          std::max(useful_up_to[tensor], problem.op(op).recomputable ? problem.op_count() : op);
      if (problem.op(op).recomputable) once &= ~(1u << tensor);
    }
  }
  std::map<State, std::int64_t> least;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto reach = [&](State state, std::int64_t cost) {
    for (remat::TensorIndex t = 0; t < problem.tensor_count(); ++t) {
      if (useful_up_to[t] < std::get<0>(state)) std::get<2>(state) &= ~(1u << t);
    }
    const auto [at, added] = least.try_emplace(state, cost);
    if (!added && at->second <= cost) return;
    at->second = cost;
    queue.emplace(cost, state);
  };
  reach({0, 0, 0}, 0);
  while (!queue.empty()) {
    const auto [cost, state] = queue.top();
    queue.pop();
    if (least[state] < cost) continue;
    const auto [next, from, alive] = state;
    if (next == problem.op_count()) return cost;
    for (remat::OpIndex op = in_order ? from : 0; op <= next; ++op) {
      if (op < next && !problem.op(op).recomputable) continue;
      const std::uint32_t in = mask(problem.inputs(op)), out = mask(problem.outputs(op));
      if ((in & ~alive) != 0 || (op < next && (out & ~alive) == 0)) continue;
      if (bytes(alive | out) + problem.op(op).workspace > budget) continue;
      if (op == next) {
        reach({next + 1, 0, alive | out}, cost);
      } else {
        reach({next, in_order ? op + 1 : 0, alive | out}, cost + problem.op(op).cost);
      }
    }
    for (remat::TensorIndex t = 0; t < problem.tensor_count(); ++t) {
      if ((alive & ~once) >> t & 1) reach({next, from, alive & ~(1u << t)}, cost);
    }
  }
  return {};
}

}  // namespace tidemark::test
