#include <utility>

#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

Work work_of(const Shape& shape, std::int64_t flops_each) {
  return {.flops = Flops(shape.elements() * flops_each)};
}

// The softmax kernels keep a row in shared memory where it fits; else forward reads it three times
// (largest, sum, result), backward the gradient twice (sum, result). aten/src/ATen/native/cuda/
// SoftMax.cu: cunn_SoftMaxForward, cunn_SoftMaxForwardSmem, cunn_SoftMaxBackward; 48 KiB a block.
bool row_fits(const Value& x) {
  constexpr std::int64_t kSharedMemory = 48 * 1024;
  return x.size(-1) * size_of(x.dtype()) <= kSharedMemory;
}

std::int64_t bytes_of(const Value& x) { return x.shape().elements() * size_of(x.dtype()); }

Gradients log_softmax_backward(Tape& tape, Node& node, const Gradients& g) {
  Value dx = tape.make(OpKind::kLogSoftmaxBackward, {&g[0], &node.saved[0]}, Layout(g[0].shape()),
                       g[0].dtype(), work_of(g[0].shape(), 4));
  if (!row_fits(g[0])) tape.reads_again(bytes_of(g[0]));
  return {std::move(dx)};
}
constexpr DerivativeRule kLogSoftmaxRule = {"log_softmax", log_softmax_backward};

Gradients nll_loss_backward(Tape& tape, Node& node, const Gradients& g) {
  tape.begin(OpKind::kNllLossBackward, g[0].dtype(), {});
  tape.reads(g[0]);
  tape.reads(node.saved[1]);
  tape.reads(node.saved[2]);
  return {tape.makes(Layout(node.inputs[0].shape), node.inputs[0].dtype)};
}
constexpr DerivativeRule kNllLossRule = {"nll_loss", nll_loss_backward};

}  // namespace

Value log_softmax(const Value& logits) {
  Tape& tape = logits.tape();
  Value y = tape.make(OpKind::kLogSoftmax, {&logits}, Layout(logits.shape()), logits.dtype(),
                      work_of(logits.shape(), 5));
  if (!row_fits(logits)) tape.reads_again(2 * bytes_of(logits));
  if (Node* node = tape.differentiate(kLogSoftmaxRule, {&logits}, {&y})) tape.save(*node, y);
  return y;
}

Value nll_loss(const Value& log_probabilities, const Value& labels) {
  Tape& tape = log_probabilities.tape();
  tape.begin(OpKind::kNllLoss, log_probabilities.dtype(), {});
  tape.keeps(log_probabilities);
  tape.reads(labels);
  // One element a row.
  tape.reads_again(labels.shape().elements() * size_of(log_probabilities.dtype()));
  Value loss = tape.makes(Layout(Shape{}), log_probabilities.dtype());
  const Value total_weight = tape.makes(Layout(Shape{}), log_probabilities.dtype(), "total_weight");
  if (Node* node = tape.differentiate(kNllLossRule, {&log_probabilities}, {&loss})) {
    tape.save(*node, log_probabilities);
    tape.save(*node, labels);
    tape.save(*node, total_weight);
  }
  return loss;
}

}  // namespace tidemark
