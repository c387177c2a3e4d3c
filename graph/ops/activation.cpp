#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

Work work_of(const Value& x, std::int64_t flops_each) {
  return {.flops = Flops(x.shape().elements() * flops_each)};
}

Value backward_kernel(OpKind kind, const Value& g, const Value& saved, std::int64_t flops_each) {
  const Layout* const operands[] = {&g.layout(), &saved.layout()};
  return g.tape().make(kind, {&g, &saved}, elementwise_layout(operands), g.dtype(),
                       work_of(g, flops_each));
}

Gradients gelu_backward(Tape&, Node& node, const Gradients& g) {
  return {backward_kernel(OpKind::kGeluBackward, g[0], node.saved[0], 12)};
}
constexpr DerivativeRule kGeluRule = {"gelu", gelu_backward};

Gradients silu_backward(Tape&, Node& node, const Gradients& g) {
  return {backward_kernel(OpKind::kSiluBackward, g[0], node.saved[0], 8)};
}
constexpr DerivativeRule kSiluRule = {"silu", silu_backward};

Gradients dropout_backward(Tape&, Node& node, const Gradients& g) {
  return {backward_kernel(OpKind::kDropoutBackward, g[0], node.saved[0], 2)};
}
constexpr DerivativeRule kDropoutRule = {"dropout", dropout_backward};

Gradients softmax_backward(Tape& tape, Node& node, const Gradients& g) {
  return {tape.make(OpKind::kSoftmaxBackward, {&g[0], &node.saved[0]}, Layout(g[0].shape()),
                    g[0].dtype(), work_of(g[0], 4))};
}
constexpr DerivativeRule kSoftmaxRule = {"softmax", softmax_backward};

// Writes the score gradient over the incoming one.
Gradients fused_softmax_backward(Tape& tape, Node& node, const Gradients& g) {
  tape.update(OpKind::kMulInplace, g[0], {&g[0], &node.saved[0]}, work_of(g[0], 4));
  return {g[0]};
}
constexpr DerivativeRule kFusedSoftmaxRule = {"fused_softmax", fused_softmax_backward};

Value unary(OpKind kind, const Value& x, std::int64_t flops) {
  return x.tape().make(kind, {&x}, preserved(x.layout()), x.dtype(), work_of(x, flops));
}

Value saving_input(OpKind kind, const DerivativeRule& rule, const Value& x, std::int64_t flops) {
  Value y = unary(kind, x, flops);
  if (Node* node = y.tape().differentiate(rule, {&x}, {&y})) y.tape().save(*node, x);
  return y;
}

}  // namespace

Value gelu(const Value& x) { return saving_input(OpKind::kGelu, kGeluRule, x, 8); }

Value silu(const Value& x) { return saving_input(OpKind::kSilu, kSiluRule, x, 5); }

// On a GPU one kernel with a mask of a byte an element; elsewhere noise in the tensor's own dtype,
// made in place, and a product that keeps it (aten/native/Dropout.cpp).
Value dropout(const Value& x) {
  Tape& tape = x.tape();
  if (tape.kernels().dropout_mask == Kernels::DropoutMask::kDtype) {
    const Value noise =
        tape.make(OpKind::kEmpty, {}, preserved(x.layout()), x.dtype(), {.work = WorkClass::kNone});
    tape.update(OpKind::kFill, noise, {}, work_of(x, 1));
    tape.update(OpKind::kDiv, noise, {&noise}, work_of(x, 1));
    return mul(x, noise);
  }
  tape.begin(OpKind::kDropout, x.dtype(), work_of(x, 2));
  tape.reads(x);
  Value y = tape.makes(preserved(x.layout()), x.dtype());
  const Value mask = tape.makes(preserved(x.layout()), DType::kBool, "mask");
  if (Node* node = tape.differentiate(kDropoutRule, {&x}, {&y})) tape.save(*node, mask);
  return y;
}

Value softmax(const Value& x) {
  Value y = x.tape().make(OpKind::kSoftmax, {&x}, Layout(x.shape()), x.dtype(), work_of(x, 5));
  if (Node* node = y.tape().differentiate(kSoftmaxRule, {&x}, {&y})) y.tape().save(*node, y);
  return y;
}

Value fused_causal_softmax(const Value& x) {
  Value y = x.tape().make(OpKind::kFusedSoftmax, {&x}, Layout(x.shape()), x.dtype(), work_of(x, 6));
  if (Node* node = y.tape().differentiate(kFusedSoftmaxRule, {&x}, {&y})) y.tape().save(*node, y);
  return y;
}

}  // namespace tidemark
