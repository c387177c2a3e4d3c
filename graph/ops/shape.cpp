#include <utility>

#include "graph/autograd.hpp"
#include "graph/ops/ops.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

// A reshape without a node of its own: a view if strides allow, else a contiguous copy.
Value reshaped(const Value& x, const Shape& shape) {
  Tape& tape = x.tape();
  if (const auto layout = viewed(x.layout(), shape)) return tape.view_of(x, *layout);
  const Value copy = tape.make(OpKind::kClone, {&x}, Layout(x.shape()), x.dtype());
  return tape.alias_of(copy, Layout(shape));
}

Gradients view_backward(Tape&, Node& node, const Gradients& g) {
  return {reshaped(g[0], node.inputs[0].shape)};
}
constexpr DerivativeRule kViewRule = {"view", view_backward};

Gradients transpose_backward(Tape& tape, Node& node, const Gradients& g) {
  return {tape.view_of(g[0], transposed(g[0].layout(), static_cast<int>(node.numbers[0]),
                                        static_cast<int>(node.numbers[1])))};
}
constexpr DerivativeRule kTransposeRule = {"transpose", transpose_backward};

Gradients permute_backward(Tape& tape, Node& node, const Gradients& g) {
  Layout out = g[0].layout();
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.shape.rank); ++i) {
    const std::size_t to = static_cast<std::size_t>(node.numbers[i]);
    out.shape.size[to] = g[0].layout().shape.size[i];
    out.stride[to] = g[0].layout().stride[i];
  }
  return {tape.view_of(g[0], out)};
}
constexpr DerivativeRule kPermuteRule = {"permute", permute_backward};

Gradients expand_backward(Tape&, Node& node, const Gradients& g) {
  return {sum_to(g[0], node.inputs[0].shape)};
}
constexpr DerivativeRule kExpandRule = {"expand", expand_backward};

Gradients unsqueeze_backward(Tape& tape, Node& node, const Gradients& g) {
  return {tape.view_of(g[0], squeezed(g[0].layout(), static_cast<int>(node.numbers[0])))};
}
constexpr DerivativeRule kUnsqueezeRule = {"unsqueeze", unsqueeze_backward};

Gradients slice_backward(Tape& tape, Node& node, const Gradients& g) {
  return {tape.make(OpKind::kSliceBackward, {&g[0]}, Layout(node.inputs[0].shape), g[0].dtype())};
}
constexpr DerivativeRule kSliceRule = {"slice", slice_backward};

Gradients split_backward(Tape& tape, Node& node, const Gradients& g) {
  tape.begin(OpKind::kCat, node.inputs[0].dtype, {});
  DType dtype = node.inputs[0].dtype;
  for (int i = 0; i < node.output_count; ++i) {
    const Value& piece = g[static_cast<std::size_t>(i)];
    ensure(static_cast<bool>(piece), "every piece of a split takes part in the loss");
    tape.reads(piece);
    dtype = piece.dtype();
  }
  return {tape.makes(Layout(node.inputs[0].shape), dtype)};
}
constexpr DerivativeRule kSplitRule = {"split", split_backward};

// stack: both gradients in one new tensor, row-major.
Gradients unbind_pair_backward(Tape& tape, Node& node, const Gradients& g) {
  ensure(g[0] && g[1], "both halves of a pair take part in the loss");
  return {tape.make(OpKind::kStack, {&g[0], &g[1]}, Layout(node.inputs[0].shape), g[0].dtype())};
}
constexpr DerivativeRule kUnbindPairRule = {"unbind", unbind_pair_backward};

Gradients cat_backward(Tape& tape, Node& node, const Gradients& g) {
  Gradients out;
  for (int i = 0; i < node.input_count; ++i) {
    if (!node.needs(i)) continue;
    const int dim = static_cast<int>(node.numbers[0]);
    out[static_cast<std::size_t>(i)] = tape.view_of(
        g[0], narrowed(g[0].layout(), dim, node.inputs[static_cast<std::size_t>(i)].shape.at(dim)));
  }
  return out;
}
constexpr DerivativeRule kCatRule = {"cat", cat_backward};

Gradients clone_backward(Tape&, Node&, const Gradients& g) { return {g[0]}; }
constexpr DerivativeRule kCloneRule = {"clone", clone_backward};

Value differentiated_view(const DerivativeRule& rule, const Value& x, Value y) {
  x.tape().differentiate(rule, {&x}, {&y});
  return y;
}

}  // namespace

Value view(const Value& x, const Shape& shape) {
  const auto layout = viewed(x.layout(), shape);
  ensure(layout.has_value(), "a view needs strides that allow it");
  return differentiated_view(kViewRule, x, x.tape().view_of(x, *layout));
}

Value unsafe_view(Value x, const Shape& shape) {
  return differentiated_view(kViewRule, x, x.tape().alias_of(x, Layout(shape)));
}

Value reshape(const Value& x, const Shape& shape) {
  if (viewed(x.layout(), shape)) return view(x, shape);
  return unsafe_view(clone_contiguous(x), shape);
}

Value transpose(const Value& x, int a, int b) {
  Value y = x.tape().view_of(x, transposed(x.layout(), a, b));
  if (Node* node = x.tape().differentiate(kTransposeRule, {&x}, {&y})) {
    node->numbers[0] = a;
    node->numbers[1] = b;
  }
  return y;
}

Value permute(const Value& x, std::initializer_list<int> order) {
  Value y = x.tape().view_of(x, permuted(x.layout(), order));
  if (Node* node = x.tape().differentiate(kPermuteRule, {&x}, {&y})) {
    std::size_t i = 0;
    ensure(order.size() <= node->numbers.size(), "a permutation has at most five dimensions");
    for (const int from : order) node->numbers[i++] = from;
  }
  return y;
}

Value expand(const Value& x, const Shape& shape) {
  return differentiated_view(kExpandRule, x, x.tape().view_of(x, expanded(x.layout(), shape)));
}

Value unsqueeze(const Value& x, int dim) {
  Value y = x.tape().view_of(x, unsqueezed(x.layout(), dim));
  if (Node* node = x.tape().differentiate(kUnsqueezeRule, {&x}, {&y})) node->numbers[0] = dim;
  return y;
}

Value slice(const Value& x, int dim, std::int64_t length) {
  return differentiated_view(kSliceRule, x, x.tape().view_of(x, narrowed(x.layout(), dim, length)));
}

std::vector<Value> unbind_pair(const Value& x) {
  Tape& tape = x.tape();
  ensure(x.size(0) == 2, "a pair has two halves");
  const Layout half = squeezed(narrowed(x.layout(), 0, 1), 0);
  std::vector<Value> out = {tape.view_of(x, half), tape.view_of(x, half)};
  tape.differentiate(kUnbindPairRule, {&x}, {&out[0], &out[1]});
  return out;
}

std::vector<Value> split(const Value& x, int dim, std::int64_t length) {
  Tape& tape = x.tape();
  const std::int64_t pieces = x.size(dim) / length;
  ensure((pieces == 2 || pieces == 3) && x.size(dim) % length == 0,
         "a split gives two or three equal pieces");
  std::vector<Value> out;
  for (std::int64_t i = 0; i < pieces; ++i) {
    out.push_back(tape.view_of(x, narrowed(x.layout(), dim, length)));
  }
  if (pieces == 2) {
    tape.differentiate(kSplitRule, {&x}, {&out[0], &out[1]});
  } else {
    tape.differentiate(kSplitRule, {&x}, {&out[0], &out[1], &out[2]});
  }
  return out;
}

Value cat(const Value& a, const Value& b, int dim) {
  Layout layout(a.shape());
  layout.shape.size[static_cast<std::size_t>(dim < 0 ? layout.shape.rank + dim : dim)] +=
      b.size(dim);
  layout = Layout(layout.shape);
  Value y = a.tape().make(OpKind::kCat, {&a, &b}, layout, a.dtype());
  if (Node* node = a.tape().differentiate(kCatRule, {&a, &b}, {&y})) node->numbers[0] = dim;
  return y;
}

Value clone_contiguous(const Value& x) {
  Value y = x.tape().make(OpKind::kClone, {&x}, Layout(x.shape()), x.dtype());
  x.tape().differentiate(kCloneRule, {&x}, {&y});
  return y;
}

Value contiguous(const Value& x) { return x.layout().contiguous() ? x : clone_contiguous(x); }

}  // namespace tidemark
