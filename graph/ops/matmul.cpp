#include "graph/autograd.hpp"
#include "graph/ops/ops.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

Work product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.work = WorkClass::kMatmul,
          .flops = Flops(2 * batch * m * n * k),
          .m = m,
          .n = n,
          .k = k,
          .batch = batch};
}

// a [m, k] by b [k, n]
Value mm_kernel(OpKind kind, const Value& bias, const Value& a, const Value& b) {
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  ensure(b.size(0) == k, "the inner sizes of a matmul agree");
  return a.tape().make(kind, {&a, &b, &bias}, Layout(Shape{m, n}), a.dtype(), product(1, m, n, k));
}

Value bmm_kernel(OpKind kind, const Value& a, const Value& b, const Value& buffer = {}) {
  const std::int64_t batch = a.size(0), m = a.size(1), k = a.size(2), n = b.size(2);
  ensure(b.size(1) == k && b.size(0) == batch, "the inner sizes of a batched matmul agree");
  return a.tape().make(kind, {&a, &b, &buffer}, Layout(Shape{batch, m, n}), a.dtype(),
                       product(batch, m, n, k));
}

Value turned(const Value& x) { return x.tape().view_of(x, transposed(x.layout(), -1, -2)); }

bool column_major(const Layout& x) { return x.stride_at(0) == 1 && x.stride_at(1) == x.size(0); }

// FunctionsManual.cpp, mm_mat1_backward and mm_mat2_backward: the gradient gets the layout of the
// operand, so that a transposed weight's gradient needs no copy.
Value gradient_of_first(const Value& g, const Value& b, const Layout& a) {
  if (column_major(a)) return turned(mm_kernel(OpKind::kMm, {}, b, turned(g)));
  return mm_kernel(OpKind::kMm, {}, g, turned(b));
}

Value gradient_of_second(const Value& g, const Value& a, const Layout& b) {
  if (column_major(b)) return turned(mm_kernel(OpKind::kMm, {}, turned(g), a));
  return mm_kernel(OpKind::kMm, {}, turned(a), g);
}

// The rule writes down one operand's layout; the other operand's is that of the saved tensor.
// mm saves self and mat2, and always both when both need a gradient.
Gradients mm_backward(Tape&, Node& node, const Gradients& g) {
  Gradients out;
  if (node.needs(1)) out[1] = gradient_of_second(g[0], node.saved[0], node.layout);
  if (node.needs(0)) {
    Layout first(node.inputs[0].shape);
    first.stride = {node.numbers[0], node.numbers[1]};
    out[0] = gradient_of_first(g[0], node.saved[1], first);
  }
  return out;
}
constexpr DerivativeRule kMmRule = {"mm", mm_backward};

// bias, mat1, mat2: mat1 first. The bias gets the incoming gradient; the engine sums it.
Gradients addmm_backward(Tape&, Node& node, const Gradients& g) {
  Gradients out;
  if (node.needs(1)) {
    Layout first(node.inputs[1].shape);
    first.stride = {node.numbers[0], node.numbers[1]};
    out[1] = gradient_of_first(g[0], node.saved[1], first);
  }
  if (node.needs(2)) out[2] = gradient_of_second(g[0], node.saved[0], node.layout);
  out[0] = g[0];
  return out;
}
constexpr DerivativeRule kAddmmRule = {"addmm", addmm_backward};

Gradients bmm_backward(Tape&, Node& node, const Gradients& g) {
  Gradients out;
  if (node.needs(1)) out[1] = bmm_kernel(OpKind::kBmm, turned(node.saved[0]), g[0]);
  if (node.needs(0)) out[0] = bmm_kernel(OpKind::kBmm, g[0], turned(node.saved[1]));
  return out;
}
constexpr DerivativeRule kBmmRule = {"bmm", bmm_backward};

Value scaled(const Value& x) {
  return x.tape().make(OpKind::kMul, {&x}, preserved(x.layout()), x.dtype(),
                       {.flops = Flops(x.shape().elements())});
}

Gradients baddbmm_backward(Tape&, Node& node, const Gradients& g) {
  Gradients out;
  if (node.needs(0)) out[0] = scaled(bmm_kernel(OpKind::kBmm, g[0], turned(node.saved[1])));
  if (node.needs(1)) out[1] = scaled(bmm_kernel(OpKind::kBmm, turned(node.saved[0]), g[0]));
  return out;
}
constexpr DerivativeRule kBaddbmmRule = {"baddbmm", baddbmm_backward};

void save_operands(Tape& tape, Node& node, const Value& a, const Value& b, bool for_a, bool for_b) {
  node.layout = b.layout();
  node.numbers[0] = a.layout().stride[0];
  node.numbers[1] = a.layout().stride[1];
  tape.save(node, for_b ? a : Value());
  tape.save(node, for_a ? b : Value());
}

}  // namespace

Value mm(const Value& a, const Value& b) {
  Value y = mm_kernel(OpKind::kMm, {}, a, b);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kMmRule, {&a, &b}, {&y})) {
    save_operands(tape, *node, a, b, node->needs(0), node->needs(1));
  }
  return y;
}

Value addmm(const Value& bias, const Value& a, const Value& b) {
  Value y = mm_kernel(OpKind::kAddmm, bias, a, b);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kAddmmRule, {&bias, &a, &b}, {&y})) {
    save_operands(tape, *node, a, b, node->needs(1), node->needs(2));
  }
  return y;
}

Value bmm(const Value& a, const Value& b) {
  Value y = bmm_kernel(OpKind::kBmm, a, b);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kBmmRule, {&a, &b}, {&y})) {
    tape.save(*node, node->needs(1) ? a : Value());
    tape.save(*node, node->needs(0) ? b : Value());
  }
  return y;
}

Value baddbmm_scaled(const Value& buffer, const Value& a, const Value& b) {
  Value y = bmm_kernel(OpKind::kBaddbmm, a, b, buffer);
  Tape& tape = y.tape();
  if (Node* node = tape.differentiate(kBaddbmmRule, {&a, &b}, {&y})) {
    tape.save(*node, node->needs(1) ? a : Value());
    tape.save(*node, node->needs(0) ? b : Value());
  }
  return y;
}

// at::matmul of two tensors with the same batch sizes: expand, fold the batch, bmm, unfold.
Value matmul(const Value& a, const Value& b) {
  const std::int64_t batch = a.size(0) * a.size(1);
  const Value folded_a = reshape(expand(a, a.shape()), Shape{batch, a.size(2), a.size(3)});
  const Value folded_b = reshape(expand(b, b.shape()), Shape{batch, b.size(2), b.size(3)});
  return unsafe_view(bmm(folded_a, folded_b), Shape{a.size(0), a.size(1), a.size(2), b.size(3)});
}

// at::linear of a 3-d input: with a bias addmm on the flattened input, without one a folded matmul.
Value linear(const Value& x, const Value& weight, const Value& bias) {
  const Value turned_weight = transpose(weight, 0, 1);
  const Shape out = {x.size(0), x.size(1), weight.size(0)};
  const Shape flat = {x.size(0) * x.size(1), x.size(2)};
  if (bias) {
    ensure(x.layout().contiguous(), "a linear layer with a bias gets a contiguous input");
    return view(addmm(bias, view(x, flat), turned_weight), out);
  }
  return unsafe_view(mm(reshape(x, flat), turned_weight), out);
}

}  // namespace tidemark
