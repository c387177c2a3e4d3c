// Hugging Face style LLaMA (eager): RMSNorm with fp32 internals, rotary embedding, KV heads
// expanded before the matmul, softmax in fp32 then cast, SwiGLU, no biases (but on q, k, v for
// Qwen2).

#include "graph/models/architectures.hpp"
#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

struct LlamaBlock {
  Value norm1, q, k, v, out, norm2, gate, up, down;
  Value q_bias, k_bias, v_bias;  // empty without qkv_bias
};

class Llama final : public Script {
 public:
  Llama(Tape& on, const LoweringInput& from) : Script(on, from) {
    const std::int64_t h = model.hidden, f = model.ffn, d = model.head_dim;
    const std::int64_t wide = model.heads * d, narrow = model.kv_heads * d;
    embedding_ = parameter({model.vocab, h}, "embed_tokens");
    norm_ = parameter({h}, "norm");
    head_ = model.tied_embeddings ? embedding_ : parameter({model.vocab, h}, "lm_head");
    for (std::int64_t i = 0; i < model.layers; ++i) {
      tape.layer = static_cast<std::int16_t>(i);
      LlamaBlock b;
      b.norm1 = parameter({h}, "input_layernorm");
      b.q = parameter({wide, h}, "q_proj.weight");
      if (model.qkv_bias) b.q_bias = parameter({wide}, "q_proj.bias");
      b.k = parameter({narrow, h}, "k_proj.weight");
      if (model.qkv_bias) b.k_bias = parameter({narrow}, "k_proj.bias");
      b.v = parameter({narrow, h}, "v_proj.weight");
      if (model.qkv_bias) b.v_bias = parameter({narrow}, "v_proj.bias");
      b.out = parameter({h, wide}, "o_proj.weight");
      b.norm2 = parameter({h}, "post_attention_layernorm");
      b.gate = parameter({f, h}, "gate_proj.weight");
      b.up = parameter({f, h}, "up_proj.weight");
      b.down = parameter({h, f}, "down_proj.weight");
      blocks_.push_back(std::move(b));
    }
    tape.layer = -1;
    inverse_ = tape.initial({d / 2}, DType::kF32, Category::kConstants, "rotary frequencies");
  }

  Outcome forward(const Batch& batch) override {
    Value x;
    {
      const Scope scope(tape, Module::kEmbedding);
      x = embedding(embedding_, batch.tokens);
    }
    std::vector<Value> constants = make_constants(x.dtype());
    x = run_blocks(x, constants);
    const Scope scope(tape, Module::kHead);
    x = rms_norm(x, norm_);
    Value logits = project(x, head_, {});
    return finish(std::move(logits), batch.labels);
  }

 protected:
  Value block(std::int64_t i, const Value& in, const std::vector<Value>& constants) override {
    const LlamaBlock& w = blocks_[static_cast<std::size_t>(i)];
    Value h, q, k, v, a, o;
    {
      const Scope scope(tape, Module::kNorm);
      h = rms_norm(in, w.norm1);
    }
    {
      const Scope scope(tape, Module::kQkv);
      q = heads_of(project(h, w.q, w.q_bias), model.heads);
      k = heads_of(project(h, w.k, w.k_bias), model.kv_heads);
      v = heads_of(project(h, w.v, w.v_bias), model.kv_heads);
    }
    rotate(q, k, constants[1], constants[2]);
    {
      const Scope scope(tape, Module::kAttentionCore);
      if (input.kernels.attention == Kernels::Attention::kFlash) {
        o = fused_attention(transpose(q, 1, 2), transpose(k, 1, 2), transpose(v, 1, 2));
      } else {
        o = eager_attention(q, k, v, a, constants[0]);
      }
      o = reshape(o, Shape{in.size(0), in.size(1), model.heads * model.head_dim});
    }
    Value x;
    {
      const Scope scope(tape, Module::kAttentionOutput);
      o = project(o, w.out, {});
      x = add(in, o);
    }
    {
      const Scope scope(tape, Module::kNorm);
      h = rms_norm(x, w.norm2);
    }
    h = swiglu(h, w);
    const Scope scope(tape, Module::kMlpOut);
    return add(x, h);
  }

 private:
  // The causal mask and the rotary tables, made anew in every forward.
  std::vector<Value> make_constants(DType dtype) {
    const Scope scope(tape, Module::kRotary);
    const std::int64_t s = input.training.sequence;
    Value mask;
    if (input.kernels.attention != Kernels::Attention::kFlash) {
      const Value full = tape.make(OpKind::kFill, {}, Layout(Shape{s, s}), dtype);
      tape.update(OpKind::kTriu, full, {&full});
      mask = view(full, Shape{1, 1, s, s});
    }
    Value angles;
    {
      const Value steps = tape.make(OpKind::kArange, {}, Layout(Shape{s}), DType::kF32);
      const Value column = view(steps, Shape{s, 1});
      angles = mul(column, inverse_);
    }
    Value both = cat(angles, angles, -1);
    both = unsqueeze(unsqueeze(both, 0), 0);
    const auto table = [&](OpKind kind) {
      const Value wide = tape.make(kind, {&both}, both.layout(), DType::kF32);
      return to_copy(wide, dtype);
    };
    Value cosine = table(OpKind::kCos);
    Value sine = table(OpKind::kSin);
    for (const Value* x : {&mask, &cosine, &sine}) {
      if (*x) tape.graph().tensors[(*x)->storage].category = Category::kConstants;
    }
    return {std::move(mask), std::move(cosine), std::move(sine)};
  }

  Value rms_norm(const Value& x, const Value& weight) {
    if (input.kernels.norm == Kernels::Norm::kFused) return fused_rms_norm(x, weight);
    const DType dtype = x.dtype();
    Value h = to_copy(x, DType::kF32);
    Value variance;
    {
      const Value square = power(h);
      variance = mean_last(square);
    }
    {
      Value inverse = add_scalar(variance);
      inverse = rsqrt(inverse);
      h = mul(h, inverse);
    }
    const Value narrow = to_copy(h, dtype);
    return mul(weight, narrow);
  }

  Value heads_of(const Value& x, std::int64_t heads) {
    return transpose(view(x, Shape{x.size(0), x.size(1), heads, model.head_dim}), 1, 2);
  }

  // (-x2, x1)
  Value turned(const Value& x) {
    const std::int64_t half = x.size(-1) / 2;
    const Value negative = neg(slice(x, -1, half));
    return cat(negative, slice(x, -1, half), -1);
  }

  Value rotated(const Value& x, const Value& cosine, const Value& sine) {
    const Value straight = mul(x, cosine);
    Value crossed = turned(x);
    crossed = mul(crossed, sine);
    return add(straight, crossed);
  }

  // q and k are bound anew together, once both are there.
  void rotate(Value& q, Value& k, const Value& cosine, const Value& sine) {
    const Scope scope(tape, Module::kRotary);
    Value new_q = rotated(q, cosine, sine);
    Value new_k = rotated(k, cosine, sine);
    q = std::move(new_q);
    k = std::move(new_k);
  }

  Value repeated(const Value& x) {
    const std::int64_t b = x.size(0), kv = x.size(1), s = x.size(2), d = x.size(3);
    const std::int64_t times = model.heads / model.kv_heads;
    const Value wide = unsqueeze(slice(slice(x, 0, b), 1, kv), 2);
    return reshape(expand(wide, Shape{b, kv, times, s, d}), Shape{b, model.heads, s, d});
  }

  Value softmax_in_fp32(const Value& x) {
    const Value wide = to_copy(x, DType::kF32);
    return softmax(wide);
  }

  // `a` is the block's variable: it stays until the block returns.
  Value eager_attention(Value& q, Value& k, Value& v, Value& a, const Value& mask) {
    if (model.kv_heads != model.heads) {
      k = repeated(k);
      v = repeated(v);
    }
    {
      const Value scores = low_matmul(q, transpose(k, 2, 3));
      a = mul_scalar(scores);
    }
    a = add(a, mask);
    {
      const Value probabilities = softmax_in_fp32(a);
      a = to_copy(probabilities, q.dtype());
    }
    Value o = low_matmul(a, v);
    return contiguous(transpose(o, 1, 2));
  }

  Value low_matmul(const Value& x, const Value& y) {
    const Value b = low(y);
    const Value a = low(x);
    return matmul(a, b);
  }

  Value swiglu(const Value& h, const LlamaBlock& w) {
    Value gate;
    {
      const Scope scope(tape, Module::kMlpIn);
      gate = project(h, w.gate, {});
    }
    {
      const Scope scope(tape, Module::kMlpActivation);
      gate = silu(gate);
    }
    Value product;
    {
      const Scope scope(tape, Module::kMlpIn);
      const Value up = project(h, w.up, {});
      const Scope inner(tape, Module::kMlpActivation);
      product = mul(gate, up);
      gate.reset();
    }
    const Scope scope(tape, Module::kMlpOut);
    return project(product, w.down, {});
  }

  Value embedding_, norm_, head_, inverse_;
  std::vector<LlamaBlock> blocks_;
};

}  // namespace

std::unique_ptr<Script> make_llama(Tape& tape, const LoweringInput& input) {
  return std::make_unique<Llama>(tape, input);
}

}  // namespace tidemark
