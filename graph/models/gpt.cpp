// Megatron-style GPT: [s, b, h], LayerNorm, biases, one projection for q, k and v laid out per
// head, explicit causal softmax attention, gelu as one op, dropout on attention and residuals.

#include "graph/models/architectures.hpp"
#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

struct GptBlock {
  Value norm1_weight, norm1_bias, qkv_weight, qkv_bias, out_weight, out_bias;
  Value norm2_weight, norm2_bias, in_weight, in_bias, back_weight, back_bias;
};

class Gpt final : public Script {
 public:
  Gpt(Tape& on, const LoweringInput& from) : Script(on, from) {
    const std::int64_t h = model.hidden, f = model.ffn;
    tokens_ = parameter({model.vocab, h}, "wte");
    positions_ = parameter({model.max_positions, h}, "wpe");
    norm_weight_ = parameter({h}, "lnf.weight");
    norm_bias_ = parameter({h}, "lnf.bias");
    head_ = model.tied_embeddings ? tokens_ : parameter({model.vocab, h}, "head");
    for (std::int64_t i = 0; i < model.layers; ++i) {
      tape.layer = static_cast<std::int16_t>(i);
      GptBlock b;
      b.norm1_weight = parameter({h}, "ln1.weight");
      b.norm1_bias = parameter({h}, "ln1.bias");
      b.qkv_weight = parameter({3 * h, h}, "qkv.weight");
      b.qkv_bias = parameter({3 * h}, "qkv.bias");
      b.out_weight = parameter({h, h}, "out.weight");
      b.out_bias = parameter({h}, "out.bias");
      b.norm2_weight = parameter({h}, "ln2.weight");
      b.norm2_bias = parameter({h}, "ln2.bias");
      b.in_weight = parameter({f, h}, "mlp_in.weight");
      b.in_bias = parameter({f}, "mlp_in.bias");
      b.back_weight = parameter({h, f}, "mlp_out.weight");
      b.back_bias = parameter({h}, "mlp_out.bias");
      blocks_.push_back(std::move(b));
    }
    tape.layer = -1;
    const std::int64_t s = input.training.sequence;
    mask_ = tape.initial({1, 1, s, s}, DType::kBool, Category::kConstants, "causal mask");
  }

  Outcome forward(const Batch& batch) override {
    Value x;
    {
      const Scope scope(tape, Module::kEmbedding);
      {
        const Value words = embedding(tokens_, batch.tokens);
        const Value places = embedding(positions_, batch.positions);
        x = add(words, places);
      }
      const Value turned = contiguous(transpose(x, 0, 1));
      // The sum's name is bound anew only after dropout has returned.
      x = drop(turned);
    }
    x = run_blocks(x, {});
    const Scope scope(tape, Module::kHead);
    x = norm(x, norm_weight_, norm_bias_);
    Value logits = project(x, head_, {});
    return finish(std::move(logits), transpose(batch.labels, 0, 1));
  }

 protected:
  Value block(std::int64_t i, const Value& in, const std::vector<Value>&) override {
    const GptBlock& w = blocks_[static_cast<std::size_t>(i)];
    Value h, qkv;
    {
      const Scope scope(tape, Module::kNorm);
      h = norm(in, w.norm1_weight, w.norm1_bias);
    }
    {
      const Scope scope(tape, Module::kQkv);
      qkv = project(h, w.qkv_weight, w.qkv_bias);
      h.reset();
    }
    Value context = attention(std::move(qkv));
    Value x;
    {
      const Scope scope(tape, Module::kAttentionOutput);
      Value o = project(context, w.out_weight, w.out_bias);
      context.reset();
      const Value dropped = drop(o);
      x = add(in, dropped);
    }
    {
      const Scope scope(tape, Module::kNorm);
      h = norm(x, w.norm2_weight, w.norm2_bias);
    }
    {
      const Scope scope(tape, Module::kMlpIn);
      h = project(h, w.in_weight, w.in_bias);
    }
    {
      const Scope scope(tape, Module::kMlpActivation);
      h = gelu(h);
    }
    const Scope scope(tape, Module::kMlpOut);
    h = project(h, w.back_weight, w.back_bias);
    const Value dropped = drop(h);
    return add(x, dropped);
  }

 private:
  Value norm(const Value& x, const Value& weight, const Value& bias) {
    const Value operand = high(x);
    return layer_norm(operand, weight, bias);
  }

  Value attention(Value qkv) {
    const Scope scope(tape, Module::kAttentionCore);
    const std::int64_t s = qkv.size(0), b = qkv.size(1), heads = model.heads;
    const std::int64_t d = qkv.size(2) / (3 * heads), width = heads * d;
    std::vector<Value> parts = split(view(qkv, Shape{s, b, heads, 3 * d}), 3, d);
    qkv.reset();
    Value q = std::move(parts[0]), k = std::move(parts[1]), v = std::move(parts[2]);
    if (input.kernels.attention == Kernels::Attention::kFlash) {
      Value context = fused_attention(transpose(q, 0, 1), transpose(k, 0, 1), transpose(v, 0, 1));
      q.reset();
      k.reset();
      v.reset();
      context = contiguous(transpose(context, 0, 1));
      return view(context, Shape{s, b, width});
    }
    q = transpose(view(q, Shape{s, b * heads, d}), 0, 1);
    k = transpose(view(k, Shape{s, b * heads, d}), 0, 1);
    v = transpose(view(v, Shape{s, b * heads, d}), 0, 1);
    Value scores;
    {
      const Value buffer = tape.make(OpKind::kEmpty, {}, Layout(Shape{b * heads, s, s}), q.dtype(),
                                     {.work = WorkClass::kNone});
      scores = baddbmm_scaled(buffer, q, transpose(k, 1, 2));
    }
    scores = view(scores, Shape{b, heads, s, s});
    Value probabilities = masked_softmax(std::move(scores));
    probabilities = drop(probabilities);
    Value context;
    {
      const Value folded = view(probabilities, Shape{b * heads, s, s});
      const Value low_v = low(v);
      const Value low_folded = low(folded);
      context = bmm(low_folded, low_v);
    }
    probabilities.reset();
    q.reset();
    k.reset();
    v.reset();
    context = contiguous(permute(view(context, Shape{b, heads, s, d}), {2, 0, 1, 3}));
    return view(context, Shape{s, b, width});
  }

  Value masked_softmax(Value scores) {
    if (input.kernels.causal == Kernels::Causal::kFused) {
      const Value operand = high(scores);
      return fused_causal_softmax(operand);
    }
    if (input.kernels.causal == Kernels::Causal::kFillInplace) {
      scores = masked_fill_in_place(scores, mask_);
    } else {
      scores = masked_fill(scores, mask_);
    }
    const Value operand = high(scores);
    return softmax(operand);
  }

  Value tokens_, positions_, norm_weight_, norm_bias_, head_, mask_;
  std::vector<GptBlock> blocks_;
};

}  // namespace

std::unique_ptr<Script> make_gpt(Tape& tape, const LoweringInput& input) {
  return std::make_unique<Gpt>(tape, input);
}

}  // namespace tidemark
