// torch.einsum of two operands: views, one batched matmul, views (aten/native/Linear.cpp,
// sumproduct_pair). Unlike linear(), its weight gradients come out transposed and get copied. The
// order in which views are made decides the order of the nodes going back: the weight's before x's.

#include "graph/ops/ops.hpp"

namespace tidemark {

Value einsum_project(const Value& x, const Value& weight) {
  const std::int64_t b = x.size(0), s = x.size(1), inner = x.size(2), outer = weight.size(0);
  if (inner == 1) {  // nothing to sum over: a product of elements (einsum, at sum_dims.empty())
    const Value column = reshape(x, Shape{b, s, 1});
    return mul(column, reshape(transpose(weight, 0, 1), Shape{1, 1, outer}));
  }
  const Value rows = reshape(x, Shape{1, b * s, inner});
  const Value columns = reshape(transpose(weight, 0, 1), Shape{1, inner, outer});
  return view(bmm(rows, columns), Shape{b, s, outer});
}

Value einsum_scores(const Value& q, const Value& k) {
  const std::int64_t b = q.size(0), h = q.size(1), d = q.size(3);
  const Value turned = transpose(k, 2, 3);
  const Value folded_q = reshape(q, Shape{b * h, q.size(2), d});
  const Value folded_k = reshape(turned, Shape{b * h, d, k.size(2)});
  return view(bmm(folded_q, folded_k), Shape{b, h, q.size(2), k.size(2)});
}

Value einsum_context(const Value& p, const Value& v) {
  const std::int64_t b = p.size(0), h = p.size(1);
  const Value folded_p = reshape(p, Shape{b * h, p.size(2), p.size(3)});
  const Value folded_v = reshape(v, Shape{b * h, v.size(2), v.size(3)});
  return view(bmm(folded_p, folded_v), Shape{b, h, p.size(2), v.size(3)});
}

}  // namespace tidemark
