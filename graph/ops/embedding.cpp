#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

Gradients embedding_backward(Tape& tape, Node& node, const Gradients& g) {
  return {tape.make(OpKind::kEmbeddingBackward, {&g[0], &node.saved[0]},
                    Layout(node.inputs[0].shape), g[0].dtype(),
                    {.flops = Flops(g[0].shape().elements())})};
}
constexpr DerivativeRule kEmbeddingRule = {"embedding", embedding_backward};

}  // namespace

Value embedding(const Value& table, const Value& ids) {
  Tape& tape = table.tape();
  Shape shape = ids.shape();
  shape.size[static_cast<std::size_t>(shape.rank++)] = table.size(1);
  tape.begin(OpKind::kEmbedding, table.dtype(), {});
  tape.reads(ids);
  Value y = tape.makes(Layout(shape), table.dtype());
  // The rows that are read, not the whole table.
  tape.graph().ops.back().bytes_read += Bytes(shape.elements() * size_of(table.dtype()));
  tape.keeps(table);
  if (Node* node = tape.differentiate(kEmbeddingRule, {&table}, {&y})) tape.save(*node, ids);
  return y;
}

}  // namespace tidemark
