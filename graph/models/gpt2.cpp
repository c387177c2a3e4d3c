// Hugging Face style GPT-2: [b, s, h], projections with [in, out] weights, a where-mask, gelu_new
// from elementary ops.

#include "graph/models/architectures.hpp"
#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

struct Gpt2Block {
  Value norm1_weight, norm1_bias, qkv_weight, qkv_bias, out_weight, out_bias;
  Value norm2_weight, norm2_bias, in_weight, in_bias, back_weight, back_bias;
};

class Gpt2 final : public Script {
 public:
  Gpt2(Tape& on, const LoweringInput& from) : Script(on, from) {
    const std::int64_t h = model.hidden, f = model.ffn;
    tokens_ = parameter({model.vocab, h}, "wte");
    positions_ = parameter({model.max_positions, h}, "wpe");
    norm_weight_ = parameter({h}, "ln_f.weight");
    norm_bias_ = parameter({h}, "ln_f.bias");
    head_ = model.tied_embeddings ? tokens_ : parameter({model.vocab, h}, "lm_head");
    for (std::int64_t i = 0; i < model.layers; ++i) {
      tape.layer = static_cast<std::int16_t>(i);
      Gpt2Block b;
      b.norm1_weight = parameter({h}, "ln_1.weight");
      b.norm1_bias = parameter({h}, "ln_1.bias");
      b.qkv_weight = parameter({h, 3 * h}, "c_attn.weight");
      b.qkv_bias = parameter({3 * h}, "c_attn.bias");
      b.out_weight = parameter({h, h}, "c_proj.weight");
      b.out_bias = parameter({h}, "c_proj.bias");
      b.norm2_weight = parameter({h}, "ln_2.weight");
      b.norm2_bias = parameter({h}, "ln_2.bias");
      b.in_weight = parameter({h, f}, "c_fc.weight");
      b.in_bias = parameter({f}, "c_fc.bias");
      b.back_weight = parameter({f, h}, "mlp.c_proj.weight");
      b.back_bias = parameter({h}, "mlp.c_proj.bias");
      blocks_.push_back(std::move(b));
    }
    tape.layer = -1;
    const std::int64_t n = model.max_positions;
    mask_ = tape.initial({1, 1, n, n}, DType::kBool, Category::kConstants, "causal mask");
  }

  Outcome forward(const Batch& batch) override {
    Value x;
    {
      const Scope scope(tape, Module::kEmbedding);
      {
        const Value words = embedding(tokens_, batch.tokens);
        const Value places = embedding(positions_, slice(batch.positions, 0, 1));
        x = add(words, places);
      }
      x = drop(x);
    }
    x = run_blocks(x, {});
    const Scope scope(tape, Module::kHead);
    x = norm(x, norm_weight_, norm_bias_);
    Value logits = project(x, head_, {});
    return finish(std::move(logits), batch.labels);
  }

 protected:
  Value block(std::int64_t i, const Value& in, const std::vector<Value>&) override {
    const Gpt2Block& w = blocks_[static_cast<std::size_t>(i)];
    const std::int64_t b = in.size(0), s = in.size(1), width = in.size(2), heads = model.heads;
    const std::int64_t d = width / heads;
    Value h, q, k, v;
    {
      const Scope scope(tape, Module::kNorm);
      h = norm(in, w.norm1_weight, w.norm1_bias);
    }
    {
      const Scope scope(tape, Module::kQkv);
      std::vector<Value> parts = split(conv1d(h, w.qkv_weight, w.qkv_bias), 2, width);
      q = permute(view(parts[0], Shape{b, s, heads, d}), {0, 2, 1, 3});
      k = permute(view(parts[1], Shape{b, s, heads, d}), {0, 2, 1, 3});
      v = permute(view(parts[2], Shape{b, s, heads, d}), {0, 2, 1, 3});
    }
    Value lowest, o;
    {
      const Scope scope(tape, Module::kAttentionCore);
      Value a = low_matmul(q, transpose(k, -1, -2));
      a = div_scalar(a);
      lowest = tape.make(OpKind::kFill, {}, Layout(Shape{}), a.dtype());
      a = where(slice(slice(mask_, 2, s), 3, s), a, lowest);
      {
        const Value operand = high(a);
        a = softmax(operand);
      }
      a = to_copy(a, v.dtype());
      a = drop(a);
      o = low_matmul(a, v);
      a.reset();
      q.reset();
      k.reset();
      v.reset();
      o = contiguous(permute(o, {0, 2, 1, 3}));
      o = view(o, Shape{b, s, width});
    }
    Value x;
    {
      const Scope scope(tape, Module::kAttentionOutput);
      o = conv1d(o, w.out_weight, w.out_bias);
      o = drop(o);
      x = add(o, in);
      o.reset();
    }
    {
      const Scope scope(tape, Module::kNorm);
      h = norm(x, w.norm2_weight, w.norm2_bias);
    }
    {
      const Scope scope(tape, Module::kMlpIn);
      h = conv1d(h, w.in_weight, w.in_bias);
    }
    {
      const Scope scope(tape, Module::kMlpActivation);
      h = gelu_new(h);
    }
    const Scope scope(tape, Module::kMlpOut);
    h = conv1d(h, w.back_weight, w.back_bias);
    h = drop(h);
    return add(x, h);
  }

 private:
  Value norm(const Value& x, const Value& weight, const Value& bias) {
    const Value operand = high(x);
    return layer_norm(operand, weight, bias);
  }

  Value low_matmul(const Value& a, const Value& b) {
    const Value y = low(b);
    const Value x = low(a);
    return matmul(x, y);
  }

  // addmm over flattened rows.
  Value conv1d(const Value& x, const Value& w, const Value& bias) {
    const Value cast_weight = weight(w);
    const Value operand = low(x);
    const Value cast_bias = weight(bias);
    const std::int64_t rows = x.size(0) * x.size(1);
    const Value y = addmm(cast_bias, view(operand, Shape{rows, x.size(2)}), cast_weight);
    return view(y, Shape{x.size(0), x.size(1), w.size(1)});
  }

  // 0.5 x (1 + tanh(c (x + 0.044715 x^3))), each intermediate dropped when its one reader has run.
  // Autocast computes pow in fp32.
  Value gelu_new(const Value& x) {
    const Value half = mul_scalar(x);
    Value inner = power(high(x));
    inner = mul_scalar(inner);
    inner = add(x, inner);
    inner = mul_scalar(inner);
    inner = tanh_of(inner);
    inner = add_scalar(inner);
    return mul(half, inner);
  }

  Value tokens_, positions_, norm_weight_, norm_bias_, head_, mask_;
  std::vector<Gpt2Block> blocks_;
};

}  // namespace

std::unique_ptr<Script> make_gpt2(Tape& tape, const LoweringInput& input) {
  return std::make_unique<Gpt2>(tape, input);
}

}  // namespace tidemark
