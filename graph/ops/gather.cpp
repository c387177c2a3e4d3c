#include <utility>

#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

// gather_backward (FunctionsManual.cpp): zeros, and the gradient added into them. The node keeps
// the whole input, of which it reads the sizes only.
Gradients gather_backward(Tape& tape, Node& node, const Gradients& g) {
  Value zeros = tape.make(OpKind::kZeros, {}, Layout(node.inputs[0].shape), g[0].dtype());
  tape.update(OpKind::kScatterAdd, zeros, {&node.saved[1], &g[0]},
              {.flops = Flops(g[0].shape().elements())});
  return {std::move(zeros)};
}
constexpr DerivativeRule kGatherRule = {"gather", gather_backward};

}  // namespace

Value gather_last(const Value& x, const Value& places) {
  Tape& tape = x.tape();
  tape.begin(OpKind::kGather, x.dtype(), {});
  tape.reads(places);
  Value y = tape.makes(Layout(places.shape()), x.dtype());
  // The elements that are read, not the whole tensor.
  tape.graph().ops.back().bytes_read += Bytes(places.shape().elements() * size_of(x.dtype()));
  tape.keeps(x);
  if (Node* node = tape.differentiate(kGatherRule, {&x}, {&y})) {
    tape.save(*node, x);
    tape.save(*node, places);
  }
  return y;
}

}  // namespace tidemark
