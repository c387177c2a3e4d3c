#pragma once
// Small training steps for the planners of graph/remat.

#include <initializer_list>

#include "graph/remat/problem.hpp"

namespace tidemark::test {

// A Problem written down op by op.
class Steps {
 public:
  using Tensors = std::initializer_list<remat::TensorIndex>;

  remat::TensorIndex tensor(std::int64_t bytes) { return problem.add_tensor(bytes); }
  remat::TensorIndex kept(std::int64_t bytes) { return problem.add_tensor(bytes, true); }

  remat::OpIndex forward(std::int64_t cost, Tensors in, Tensors out,
                         std::uint32_t block = remat::kNone) {
    return problem.add_op({.cost = cost, .block = block}, span(in), span(out));
  }
  // One that may not run again.
  remat::OpIndex once(std::int64_t cost, Tensors in, Tensors out) {
    return problem.add_op({.cost = cost, .recomputable = false}, span(in), span(out));
  }
  remat::OpIndex backward(std::int64_t cost, Tensors in, Tensors out,
                          std::uint32_t block = remat::kNone) {
    return problem.add_op({.cost = cost, .backward = true, .block = block}, span(in), span(out));
  }

  remat::Problem problem;

 private:
  static std::span<const remat::TensorIndex> span(Tensors list) {
    return {list.begin(), list.size()};
  }
};

// One stage of a chain: y = f(x); dx = b(x, dy). Only `x` is needed in backward.
struct ChainStage {
  std::int64_t output_bytes = 1;
  std::int64_t gradient_bytes = 1;  // of the output
  std::int64_t forward_cost = 1;
  std::int64_t backward_cost = 1;
};

// x0 (of one byte, made once by op 0) -> stages -> loss; stage i is block i and op i + 1.
inline remat::Problem chain(std::span<const ChainStage> stages) {
  Steps steps;
  std::vector<remat::TensorIndex> x = {steps.tensor(1)};
  steps.once(0, {}, {x[0]});
  const auto count = static_cast<std::uint32_t>(stages.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    x.push_back(steps.tensor(stages[i].output_bytes));
    steps.forward(stages[i].forward_cost, {x[i]}, {x[i + 1]}, i);
  }
  remat::TensorIndex gradient = steps.tensor(count == 0 ? 1 : stages[count - 1].gradient_bytes);
  steps.backward(0, {x.back()}, {gradient});
  for (std::uint32_t i = count; i-- > 0;) {
    const remat::TensorIndex below = steps.tensor(i == 0 ? 1 : stages[i - 1].gradient_bytes);
    steps.backward(stages[i].backward_cost, {x[i], gradient}, {below}, i);
    gradient = below;
  }
  return steps.problem;
}

inline remat::Problem uniform_chain(std::uint32_t length) {
  return chain(std::vector<ChainStage>(length));
}

}  // namespace tidemark::test
