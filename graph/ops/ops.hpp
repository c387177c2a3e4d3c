#pragma once
// The framework's operators: what each makes, what its derivative reads, and what going back makes.
// Named and composed as in PyTorch (derivatives.yaml, 1.13 and 2.x); a composite issues the ops
// that the framework's dispatcher would show.

#include <vector>

#include "graph/tape.hpp"

namespace tidemark {

// elementwise.cpp
Value add(const Value& a, const Value& b);
Value sub(const Value& a, const Value& b);
Value mul(const Value& a, const Value& b);
Value div(const Value& a, const Value& b);
Value add_scalar(const Value& x);
Value mul_scalar(const Value& x);
Value div_scalar(const Value& x);
Value neg(const Value& x);
Value power(const Value& x);  // to a constant other than 0 and 1
Value rsqrt(const Value& x);
Value exponential(const Value& x);
Value logarithm(const Value& x);
Value tanh_of(const Value& x);
Value sigmoid(const Value& x);
Value masked_fill(const Value& x, const Value& mask);
Value masked_fill_in_place(const Value& view, const Value& mask);  // on a view; returns the view
Value where(const Value& condition, const Value& x, const Value& otherwise);
Value to_copy(const Value& x, DType dtype);  // a no-op when the dtype is the same

// reduce.cpp
Value mean_last(const Value& x);  // keeps the dimension
Value sum_last(const Value& x);   // keeps the dimension
Value max_last(const Value& x);   // keeps the dimension; the values, not the indices
Value mean_all(const Value& x);   // one element

// shape.cpp
Value view(const Value& x, const Shape& shape);  // strides must allow it
Value reshape(const Value& x, const Shape& shape);
Value unsafe_view(Value x, const Shape& shape);  // the framework's hidden view of a fresh result
Value transpose(const Value& x, int a, int b);
Value permute(const Value& x, std::initializer_list<int> order);
Value expand(const Value& x, const Shape& shape);
Value unsqueeze(const Value& x, int dim);
Value slice(const Value& x, int dim, std::int64_t length);  // where it begins does not matter here
std::vector<Value> unbind_pair(const Value& x);  // the two halves along the first dimension
std::vector<Value> split(const Value& x, int dim, std::int64_t length);
Value cat(const Value& a, const Value& b, int dim);
Value clone_contiguous(const Value& x);
Value contiguous(const Value& x);

// matmul.cpp
Value mm(const Value& a, const Value& b);
Value addmm(const Value& bias, const Value& a, const Value& b);
Value bmm(const Value& a, const Value& b);
Value baddbmm_scaled(const Value& buffer, const Value& a, const Value& b);  // beta 0, alpha not 1
Value matmul(const Value& a, const Value& b);                               // 4-d by 4-d
Value linear(const Value& x, const Value& weight, const Value& bias);       // bias may be empty

// einsum.cpp
Value einsum_project(const Value& x, const Value& weight);  // "bsi,oi->bso"
Value einsum_scores(const Value& q, const Value& k);        // "bhqd,bhkd->bhqk"
Value einsum_context(const Value& p, const Value& v);       // "bhqk,bhkd->bhqd"

// gather.cpp
Value gather_last(const Value& x, const Value& places);  // one element a row

// norm.cpp
Value layer_norm(const Value& x, const Value& weight, const Value& bias);
Value fused_rms_norm(const Value& x, const Value& weight);

// activation.cpp
Value gelu(const Value& x);
Value silu(const Value& x);
Value dropout(const Value& x);
Value softmax(const Value& x);
Value fused_causal_softmax(const Value& x);
Value flash_attention(const Value& q, const Value& k, const Value& v);  // [b, s, heads, head_dim]

// loss.cpp
Value log_softmax(const Value& logits);                               // [n, vocab]
Value nll_loss(const Value& log_probabilities, const Value& labels);  // [n, vocab], [n]

// embedding.cpp
Value embedding(const Value& table, const Value& ids);

}  // namespace tidemark
