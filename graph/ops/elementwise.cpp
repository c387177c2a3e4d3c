#include "graph/autograd.hpp"
#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

Work flops_of(const Value& x, std::int64_t each = 1) {
  return {.flops = Flops(x.shape().elements() * each)};
}

Work flops_of(const Shape& shape, std::int64_t each = 1) {
  return {.flops = Flops(shape.elements() * each)};
}

DType promoted(const Value& a, const Value& b) {
  return a.dtype() == DType::kF32 || b.dtype() == DType::kF32 ? DType::kF32 : a.dtype();
}

Value binary(OpKind kind, const Value& a, const Value& b) {
  const Layout* const operands[] = {&a.layout(), &b.layout()};
  const Layout layout = elementwise_layout(operands);
  return a.tape().make(kind, {&a, &b}, layout, promoted(a, b), flops_of(layout.shape));
}

Value unary(OpKind kind, const Value& x, std::int64_t flops = 1) {
  return x.tape().make(kind, {&x}, preserved(x.layout()), x.dtype(), flops_of(x, flops));
}

Gradients add_backward(Tape&, Node&, const Gradients& g) { return {g[0], g[0]}; }
constexpr DerivativeRule kAddRule = {"add", add_backward};

Gradients sub_backward(Tape&, Node& node, const Gradients& g) {
  return {g[0], node.needs(1) ? unary(OpKind::kNeg, g[0]) : Value()};
}
constexpr DerivativeRule kSubRule = {"sub", sub_backward};

// other first, then self: the order of the generated code.
Gradients mul_backward(Tape&, Node& node, const Gradients& g) {
  Gradients out;
  if (node.needs(1)) out[1] = binary(OpKind::kMul, g[0], node.saved[0]);
  if (node.needs(0)) out[0] = binary(OpKind::kMul, g[0], node.saved[1]);
  return out;
}
constexpr DerivativeRule kMulRule = {"mul", mul_backward};

Gradients scale_backward(Tape&, Node&, const Gradients& g) { return {unary(OpKind::kMul, g[0])}; }
constexpr DerivativeRule kScaleRule = {"mul_scalar", scale_backward};

Gradients unscale_backward(Tape&, Node&, const Gradients& g) { return {unary(OpKind::kDiv, g[0])}; }
constexpr DerivativeRule kUnscaleRule = {"div_scalar", unscale_backward};

// -grad * ((self / other) / other) and grad / other.
Gradients div_backward(Tape&, Node& node, const Gradients& g) {
  Gradients out;
  if (node.needs(1)) {
    const Value negated = unary(OpKind::kNeg, g[0]);
    const Value quotient = binary(OpKind::kDiv, node.saved[0], node.saved[1]);
    const Value again = binary(OpKind::kDiv, quotient, node.saved[1]);
    out[1] = binary(OpKind::kMul, negated, again);
  }
  if (node.needs(0)) out[0] = binary(OpKind::kDiv, g[0], node.saved[1]);
  return out;
}
constexpr DerivativeRule kDivRule = {"div", div_backward};

Gradients pass_backward(Tape&, Node&, const Gradients& g) { return {g[0]}; }
constexpr DerivativeRule kPassRule = {"add_scalar", pass_backward};

Gradients neg_backward(Tape&, Node&, const Gradients& g) { return {unary(OpKind::kNeg, g[0])}; }
constexpr DerivativeRule kNegRule = {"neg", neg_backward};

// grad * (exponent * self^(exponent - 1)); the three live until the expression ends.
Gradients power_backward(Tape&, Node& node, const Gradients& g) {
  const Value lower = unary(OpKind::kPow, node.saved[0]);
  const Value scaled = unary(OpKind::kMul, lower);
  return {binary(OpKind::kMul, g[0], scaled)};
}
constexpr DerivativeRule kPowerRule = {"pow", power_backward};

// -0.5 * grad * result^3.
Gradients rsqrt_backward(Tape&, Node& node, const Gradients& g) {
  const Value cube = unary(OpKind::kPow, node.saved[0]);
  const Value scaled = unary(OpKind::kMul, g[0]);
  return {binary(OpKind::kMul, scaled, cube)};
}
constexpr DerivativeRule kRsqrtRule = {"rsqrt", rsqrt_backward};

Gradients exponential_backward(Tape&, Node& node, const Gradients& g) {
  return {binary(OpKind::kMul, g[0], node.saved[0])};
}
constexpr DerivativeRule kExponentialRule = {"exp", exponential_backward};

Gradients logarithm_backward(Tape&, Node& node, const Gradients& g) {
  return {binary(OpKind::kDiv, g[0], node.saved[0])};
}
constexpr DerivativeRule kLogarithmRule = {"log", logarithm_backward};

Gradients tanh_backward(Tape&, Node& node, const Gradients& g) {
  return {binary(OpKind::kTanhBackward, g[0], node.saved[0])};
}
constexpr DerivativeRule kTanhRule = {"tanh", tanh_backward};

Gradients sigmoid_backward(Tape&, Node& node, const Gradients& g) {
  return {binary(OpKind::kTanhBackward, g[0], node.saved[0])};
}
constexpr DerivativeRule kSigmoidRule = {"sigmoid", sigmoid_backward};

// Out of place it is a clone, and a fill of the clone (aten/native/TensorAdvancedIndexing.cpp).
Value filled_clone(const Value& x, const Value& mask) {
  Value y = binary(OpKind::kMaskedFill, x, mask);
  const std::int64_t bytes = y.shape().elements() * size_of(y.dtype());
  Tape& tape = y.tape();
  tape.graph().ops.back().kernels = 2;
  tape.reads_again(bytes);
  tape.writes_again(bytes);
  return y;
}

Gradients masked_fill_backward(Tape&, Node& node, const Gradients& g) {
  return {filled_clone(g[0], node.saved[0])};
}
constexpr DerivativeRule kMaskedFillRule = {"masked_fill", masked_fill_backward};

// The derivative of an in-place op on a view (torch/csrc/autograd/functions/tensor.cpp, CopySlices)
// behind the view's regenerated as_strided node: a zeroed storage for the view's gradient, a copy
// of the base's gradient, a clone of its slice, the op's own derivative, and a copy back.
Gradients in_place_fill_backward(Tape& tape, Node& node, const Gradients& g) {
  const DType dtype = g[0].dtype();
  const Value storage = tape.make(OpKind::kEmpty, {}, Layout(Shape{g[0].shape().elements()}), dtype,
                                  {.work = WorkClass::kNone});
  tape.update(OpKind::kZero, storage, {});
  tape.update(OpKind::kCopy, storage, {&g[0]});
  return {tape.view_of(storage, node.layout)};
}
constexpr DerivativeRule kAsStridedRule = {"as_strided", in_place_fill_backward};

Gradients copy_slices_backward(Tape& tape, Node& node, const Gradients& g) {
  Value result =
      tape.make(OpKind::kEmpty, {}, node.layout, g[0].dtype(), {.work = WorkClass::kNone});
  tape.update(OpKind::kCopy, result, {&g[0]});
  {
    const Layout slice(node.inputs[1].shape);
    Value filled;
    {
      const Value copy = tape.make(OpKind::kClone, {&result}, slice, g[0].dtype());
      filled = filled_clone(copy, node.saved[0]);
    }
    tape.update(OpKind::kCopy, result, {&filled});
  }
  return {std::move(result)};
}
constexpr DerivativeRule kCopySlicesRule = {"copy_slices", copy_slices_backward};

// where(condition, grad, 0): the zero is a tensor of one element.
Gradients where_backward(Tape& tape, Node& node, const Gradients& g) {
  const Value zero = tape.make(OpKind::kFill, {}, Layout(Shape{}), g[0].dtype());
  return {tape.make(OpKind::kWhere, {&g[0], &node.saved[0], &zero}, preserved(g[0].layout()),
                    g[0].dtype(), flops_of(g[0]))};
}
constexpr DerivativeRule kWhereRule = {"where", where_backward};

Gradients to_copy_backward(Tape&, Node& node, const Gradients& g) {
  return {to_copy(g[0], static_cast<DType>(node.numbers[0]))};
}
constexpr DerivativeRule kToCopyRule = {"to_copy", to_copy_backward};

}  // namespace

Value add(const Value& a, const Value& b) {
  Value y = binary(OpKind::kAdd, a, b);
  y.tape().differentiate(kAddRule, {&a, &b}, {&y});
  return y;
}

Value sub(const Value& a, const Value& b) {
  Value y = binary(OpKind::kSub, a, b);
  y.tape().differentiate(kSubRule, {&a, &b}, {&y});
  return y;
}

Value mul(const Value& a, const Value& b) {
  Value y = binary(OpKind::kMul, a, b);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kMulRule, {&a, &b}, {&y})) {
    tape.save(*node, node->needs(1) ? a : Value());  // self, for the other's gradient
    tape.save(*node, node->needs(0) ? b : Value());
  }
  return y;
}

Value div(const Value& a, const Value& b) {
  Value y = binary(OpKind::kDiv, a, b);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kDivRule, {&a, &b}, {&y})) {
    tape.save(*node, node->needs(1) ? a : Value());
    tape.save(*node, b);
  }
  return y;
}

Value add_scalar(const Value& x) {
  Value y = unary(OpKind::kAdd, x);
  y.tape().differentiate(kPassRule, {&x}, {&y});
  return y;
}

Value mul_scalar(const Value& x) {
  Value y = unary(OpKind::kMul, x);
  y.tape().differentiate(kScaleRule, {&x}, {&y});
  return y;
}

Value div_scalar(const Value& x) {
  Value y = unary(OpKind::kDiv, x);
  y.tape().differentiate(kUnscaleRule, {&x}, {&y});
  return y;
}

Value neg(const Value& x) {
  Value y = unary(OpKind::kNeg, x);
  y.tape().differentiate(kNegRule, {&x}, {&y});
  return y;
}

Value power(const Value& x) {
  Value y = unary(OpKind::kPow, x);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kPowerRule, {&x}, {&y})) tape.save(*node, x);
  return y;
}

Value rsqrt(const Value& x) {
  Value y = unary(OpKind::kRsqrt, x);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kRsqrtRule, {&x}, {&y})) tape.save(*node, y);
  return y;
}

Value exponential(const Value& x) {
  Value y = unary(OpKind::kExp, x);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kExponentialRule, {&x}, {&y})) tape.save(*node, y);
  return y;
}

Value logarithm(const Value& x) {
  Value y = unary(OpKind::kLog, x);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kLogarithmRule, {&x}, {&y})) tape.save(*node, x);
  return y;
}

Value tanh_of(const Value& x) {
  Value y = unary(OpKind::kTanh, x);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kTanhRule, {&x}, {&y})) tape.save(*node, y);
  return y;
}

Value sigmoid(const Value& x) {
  Value y = unary(OpKind::kSigmoid, x, 4);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kSigmoidRule, {&x}, {&y})) tape.save(*node, y);
  return y;
}

Value masked_fill(const Value& x, const Value& mask) {
  Value y = filled_clone(x, mask);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kMaskedFillRule, {&x}, {&y})) tape.save(*node, mask);
  return y;
}

Value masked_fill_in_place(const Value& x, const Value& mask) {
  Tape& tape = x.tape();
  tape.update(OpKind::kMaskedFill, x, {&x, &mask}, flops_of(x));
  const Value base = x->base;
  // Without gradients nothing is recorded and the view stays what it was.
  Value rebased = tape.alias_of(base, base.layout());
  if (Node* node = tape.differentiate(kCopySlicesRule, {&base}, {&rebased})) {
    node->layout = base.layout();
    node->inputs[1] = {x.shape(), x.dtype()};
    tape.save(*node, mask);
  }
  Value y = tape.view_of(rebased, x.layout());
  if (Node* node = tape.differentiate(kAsStridedRule, {&rebased}, {&y})) {
    node->layout = base.layout();
  }
  return y;
}

Value where(const Value& condition, const Value& x, const Value& otherwise) {
  const Layout* const operands[] = {&condition.layout(), &x.layout(), &otherwise.layout()};
  Value y = x.tape().make(OpKind::kWhere, {&x, &condition, &otherwise},
                          elementwise_layout(operands), x.dtype(), flops_of(x));
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kWhereRule, {&x}, {&y})) tape.save(*node, condition);
  return y;
}

Value to_copy(const Value& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Value y = x.tape().make(OpKind::kToCopy, {&x}, preserved(x.layout()), dtype, flops_of(x));
  if (Node* node = y.tape().differentiate(kToCopyRule, {&x}, {&y})) {
    node->numbers[0] = static_cast<std::int64_t>(x.dtype());
  }
  return y;
}

}  // namespace tidemark
