#pragma once
// A step with the walk of a Transformer: embedding, blocks, head and back. With `blocks` = 2:
//
//   op        0      1    2    3      4       5    6    7
//   name      embed  f0   f1   head   head'   b1   b0   embed'
//   layer     -1     0    1    -1     -1      1    0    -1
//   reads     E      W0   W1   H      H x2    W1   W0
//                    x0   x1   x2             x1   x0
//   makes     x0     x1   x2          d2      d1   d0
//
// Block i saves its input x_i, head saves x_2. With several passes, ops and activations come once
// for each.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/small_step.hpp"

namespace tidemark::test {

struct BlockStep {
  std::size_t blocks = 2;
  std::size_t passes = 1;
  Bytes weight = Bytes(1'000);
  std::int64_t width = 2;  // bytes of an element of a weight
  Bytes activation = Bytes(10'000);
  Bytes streams = Bytes(1'000'000);  // of each op: 1 us on the round machine

  StepGraph graph;
  std::vector<TensorId> weights;                   // embedding, blocks, head
  std::vector<std::vector<TensorId>> activations;  // by pass: x0 ... x_blocks

  // The op of pass `p` with that place in it: ops_a_pass() of them.
  OpId op(std::size_t p, std::size_t place) const {
    return OpId(static_cast<std::uint32_t>(p * ops_a_pass() + place));
  }
  std::size_t ops_a_pass() const { return 2 * (blocks + 2); }

  BlockStep& build() {
    SmallStep step;
    std::vector<Parameter> parameters;
    for (std::size_t i = 0; i < blocks + 2; ++i) {
      Parameter& parameter = step.parameter(weight.count / width, width);
      parameter.layer = layer_of(i);
      parameters.push_back(parameter);
      weights.push_back(parameter.weight);
    }
    std::vector<std::int16_t> layers;
    std::vector<SavedBy> saves;
    for (std::size_t p = 0; p < passes; ++p) {
      std::vector<TensorId> x;
      for (std::size_t i = 0; i < blocks + 2; ++i) {
        SmallOp small{.reads = {weights[i]}, .streams = streams};
        if (i > 0) small.reads.push_back(x.back());
        if (i <= blocks) small.makes = {step.tensor(activation)};
        const OpId op = step.op(small);
        if (i > 0) saves.push_back({x.back(), NameId{0}, op});
        if (i <= blocks) x.push_back(small.makes[0]);
        layers.push_back(layer_of(i));
      }
      std::vector<TensorId> d;
      for (std::size_t i = blocks + 2; i-- > 0;) {
        SmallOp small{.phase = Phase::kBackward, .streams = streams};
        if (i > 0) small.reads = {weights[i], x[i - 1]};
        if (!d.empty()) small.reads.push_back(d.back());
        if (i > 0) small.makes = {d.emplace_back(step.tensor(activation, Category::kTemporaries))};
        // The first pass makes the gradient, later ones add to it.
        (p == 0 ? small.makes : small.updates).push_back(parameters[i].gradient);
        const OpId op = step.op(small);
        parameters[i].gradient_ready = op;
        layers.push_back(layer_of(i));
      }
      activations.push_back(x);
    }
    graph = step.finish();
    graph.names.push_back("block");
    graph.saves = saves;
    for (std::size_t i = 0; i < layers.size(); ++i) graph.ops[i].layer = layers[i];
    graph.names.push_back("x");
    for (Tensor& tensor : graph.tensors) tensor.name = NameId{1};
    for (const std::vector<TensorId>& pass : activations) {
      for (std::size_t i = 0; i < pass.size(); ++i) {
        graph.tensors[index(pass[i])].saved = true;
        graph.tensors[index(pass[i])].layer = layer_of(i);
      }
    }
    graph.parameters = parameters;
    return *this;
  }

 private:
  std::int16_t layer_of(std::size_t i) const {
    return i == 0 || i > blocks ? std::int16_t{-1} : static_cast<std::int16_t>(i - 1);
  }
};

}  // namespace tidemark::test
