#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

Work product_pair(WorkClass work, const Value& q, const Value& k, std::int64_t products) {
  const std::int64_t batch = q.size(0) * q.size(2);
  const std::int64_t s = q.size(1), t = k.size(1), d = q.size(3);
  // Causal: half of the score matrix (FlashAttention-2, arXiv 2307.08691, section 4.1 counts
  // 4 s^2 d heads / 2 forward and 2.5 times that backward).
  return {.work = work,
          .flops = Flops(products * batch * s * t * d),
          .m = s,
          .n = t,
          .k = d,
          .batch = batch};
}

std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

// dq, dk, dv like the operands in memory too, a row-dot buffer and a dq accumulator in fp32; with
// fewer KV heads dk and dv expanded to all heads and then summed (flash_attn 2,
// csrc/flash_attn/flash_api.cpp).
Gradients flash_backward(Tape& tape, Node& node, const Gradients& g) {
  const Value& q = node.saved[0];
  const Value& k = node.saved[1];
  const Value& v = node.saved[2];
  const std::int64_t b = q.size(0), s = q.size(1), h = q.size(2), d = q.size(3);
  const std::int64_t rows = rounded_up(s, 128);
  const Work allocation = {.work = WorkClass::kNone};
  const auto like = [&](const Value& x) {
    return tape.make(OpKind::kEmpty, {}, preserved(x.layout()), x.dtype(), allocation);
  };
  const Value dq = like(q);
  const Value dk = like(k);
  const Value dv = like(v);
  const Value row_dot =
      tape.make(OpKind::kEmpty, {}, Layout(Shape{b, h, rows}), DType::kF32, allocation);
  const Value accumulator =
      tape.make(OpKind::kEmpty, {}, Layout(Shape{b, rows, h, d}), DType::kF32, allocation);
  const auto run = [&](const Value& to_k, const Value& to_v) {
    // The row dots, the gradients, and dq rounded from its accumulator.
    Work work = product_pair(WorkClass::kAttentionBackward, q, k, 5);
    work.kernels = 3;
    tape.begin(OpKind::kFlashAttentionBackward, q.dtype(), work);
    tape.reads(g[0]);
    for (int i = 0; i < 5; ++i) tape.reads(node.saved[static_cast<std::size_t>(i)]);
    for (const Value* x : {&dq, &to_k, &to_v, &row_dot, &accumulator}) tape.writes(*x);
  };
  if (k.size(2) == h) {
    run(dk, dv);
  } else {
    const Layout all(Shape{b, s, h, d});
    const Value dk_all = tape.make(OpKind::kEmpty, {}, all, q.dtype(), allocation);
    const Value dv_all = tape.make(OpKind::kEmpty, {}, all, q.dtype(), allocation);
    run(dk_all, dv_all);
    tape.update(OpKind::kSum, dk, {&dk_all}, {.flops = Flops(all.shape.elements())});
    tape.update(OpKind::kSum, dv, {&dv_all}, {.flops = Flops(all.shape.elements())});
  }
  return {dq, dk, dv};
}
constexpr DerivativeRule kFlashRule = {"flash_attention", flash_backward};

}  // namespace

// Keeps q, k, v as passed, the output and the fp32 log-sum-exp; no scores, no masks.
Value flash_attention(const Value& q, const Value& k, const Value& v) {
  Tape& tape = q.tape();
  tape.begin(OpKind::kFlashAttention, q.dtype(), product_pair(WorkClass::kAttention, q, k, 2));
  tape.reads(q);
  tape.reads(k);
  tape.reads(v);
  Value out = tape.makes(preserved(q.layout()), q.dtype());  // mha_fwd: empty_like(q)
  const Value lse =
      tape.makes(Layout(Shape{q.size(0), q.size(2), q.size(1)}), DType::kF32, "logsumexp");
  if (Node* node = tape.differentiate(kFlashRule, {&q, &k, &v}, {&out})) {
    for (const Value* x : {&q, &k, &v}) tape.save(*node, *x);
    tape.save(*node, out);
    tape.save(*node, lse);
  }
  return out;
}

}  // namespace tidemark
