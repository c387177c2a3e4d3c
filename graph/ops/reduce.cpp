#include "graph/ops/ops.hpp"

#include <utility>

namespace tidemark {

namespace {

Layout rows_of(const Value& x) {
  Shape shape = x.shape();
  shape.size[static_cast<std::size_t>(shape.rank - 1)] = 1;
  return Layout(shape);
}

Work work_of(const Shape& shape) { return {.flops = Flops(shape.elements())}; }

// grad expanded, divided by the row's length: a new tensor of the input's shape.
Gradients mean_backward(Tape& tape, Node& node, const Gradients& g) {
  const Layout expanded_layout = expanded(g[0].layout(), node.inputs[0].shape);
  const Value wide = tape.view_of(g[0], expanded_layout);
  return {tape.make(OpKind::kDiv, {&wide}, preserved(expanded_layout), g[0].dtype(),
                    work_of(node.inputs[0].shape))};
}
constexpr DerivativeRule kMeanRule = {"mean", mean_backward};

Gradients sum_backward(Tape& tape, Node& node, const Gradients& g) {
  return {tape.view_of(g[0], expanded(g[0].layout(), node.inputs[0].shape))};
}
constexpr DerivativeRule kSumRule = {"sum", sum_backward};

// max over a dimension (derivatives.yaml, value_selecting_reduction_backward): zeros, and the
// gradient written over them at the places of the largest.
Gradients max_backward(Tape& tape, Node& node, const Gradients& g) {
  Value zeros = tape.make(OpKind::kZeros, {}, Layout(node.inputs[0].shape), g[0].dtype());
  tape.update(OpKind::kScatter, zeros, {&node.saved[0], &g[0]}, work_of(g[0].shape()));
  return {std::move(zeros)};
}
constexpr DerivativeRule kMaxRule = {"max", max_backward};

}  // namespace

// 1.13 keeps its whole input for the sizes; 2.x keeps the sizes only (torch 2.x derivatives.yaml,
// mean.dim). `mean` in Kernels says which.
Value mean_last(const Value& x) {
  Tape& tape = x.tape();
  Value y = tape.make(OpKind::kMean, {&x}, rows_of(x), x.dtype(), work_of(x.shape()));
  if (Node* node = tape.differentiate(kMeanRule, {&x}, {&y})) {
    if (tape.kernels().mean == Kernels::Mean::k113) tape.save(*node, x);
  }
  return y;
}

Value sum_last(const Value& x) {
  Tape& tape = x.tape();
  Value y = tape.make(OpKind::kSum, {&x}, rows_of(x), x.dtype(), work_of(x.shape()));
  tape.differentiate(kSumRule, {&x}, {&y});
  return y;
}

Value max_last(const Value& x) {
  Tape& tape = x.tape();
  tape.begin(OpKind::kMax, x.dtype(), work_of(x.shape()));
  tape.reads(x);
  Value values = tape.makes(rows_of(x), x.dtype());
  const Value places = tape.makes(rows_of(x), DType::kI64);
  if (Node* node = tape.differentiate(kMaxRule, {&x}, {&values})) tape.save(*node, places);
  return values;
}

// Keeps sizes only, in all versions.
Value mean_all(const Value& x) {
  Value y = x.tape().make(OpKind::kMean, {&x}, Layout(Shape{}), x.dtype(), work_of(x.shape()));
  x.tape().differentiate(kMeanRule, {&x}, {&y});
  return y;
}

}  // namespace tidemark
