// The network behind the allocator log of a real run, torch 2.11: RMSNorm in fp32, projections
// through einsum, rotary embedding over pairs of neighbours, softmax, cross-entropy and AdamW
// written by hand, SwiGLU, no biases. What each line makes and when it dies was read off that log.

#include <utility>

#include "graph/models/architectures.hpp"
#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

struct Cs336Block {
  Value q, k, v, out, gate, down, up, norm1, norm2;
};

class Cs336 final : public Script {
 public:
  Cs336(Tape& on, const LoweringInput& from) : Script(on, from) {
    const std::int64_t h = model.hidden, f = model.ffn;
    embedding_ = parameter({model.vocab, h}, "token_embeddings");
    for (std::int64_t i = 0; i < model.layers; ++i) {
      tape.layer = static_cast<std::int16_t>(i);
      Cs336Block b;
      b.q = parameter({h, h}, "attn.q_proj");
      b.k = parameter({h, h}, "attn.k_proj");
      b.v = parameter({h, h}, "attn.v_proj");
      b.out = parameter({h, h}, "attn.output_proj");
      b.gate = parameter({f, h}, "ffn.w1");
      b.down = parameter({h, f}, "ffn.w2");
      b.up = parameter({f, h}, "ffn.w3");
      b.norm1 = parameter({h}, "ln1");
      b.norm2 = parameter({h}, "ln2");
      blocks_.push_back(std::move(b));
    }
    tape.layer = -1;
    norm_ = parameter({h}, "ln_final");
    head_ = model.tied_embeddings ? embedding_ : parameter({model.vocab, h}, "lm_head");
    // A buffer of the module: it has the parameters' type, as after module.to().
    table_ = tape.initial({2, model.max_positions, model.head_dim / 2}, embedding_.dtype(),
                          Category::kConstants, "rotary table");
  }

  // kSingle is the script's own loop; the others are the framework's kernels.
  const OptimizerRow& optimizer() const override {
    const bool own = input.training.optimizer == Optimizer::kAdamW &&
                     input.kernels.optimizer == Kernels::OptimizerKernel::kSingle;
    return own ? adamw_by_hand() : Script::optimizer();
  }

  Outcome forward(const Batch& batch) override {
    Value x;
    {
      const Scope scope(tape, Module::kEmbedding);
      x = embedding(embedding_, batch.tokens);
    }
    x = run_blocks(x, {});
    const Scope scope(tape, Module::kHead);
    x = rms_norm(x, norm_);
    Value logits = project_by_einsum(x, head_);
    x.reset();  // the model returns before the loss begins
    return finish(std::move(logits), batch.labels);
  }

 protected:
  Value block(std::int64_t i, const Value& in, const std::vector<Value>&) override {
    const Cs336Block& w = blocks_[static_cast<std::size_t>(i)];
    Value attended;
    {
      const Value h = rms_norm(in, w.norm1);
      attended = attention(h, w);
    }
    Value x;
    {
      const Scope scope(tape, Module::kAttentionOutput);
      x = add(in, attended);
    }
    Value out;
    {
      const Value h = rms_norm(x, w.norm2);
      out = feed_forward(h, w);
    }
    const Scope scope(tape, Module::kMlpOut);
    return add(x, out);
  }

  // -log_softmax(logits), gathered at the labels, averaged.
  Value loss_of(const Value& logits, const Value& labels) override {
    const Value surprise = neg(log_softmax(logits));
    const Value places = unsqueeze(labels, labels.shape().rank);
    const Value chosen = gather_last(surprise, places);
    return mean_all(chosen);
  }

 private:
  Value project_by_einsum(const Value& x, const Value& w) {
    const Value cast_weight = weight(w);
    const Value operand = low(x);
    return einsum_project(operand, cast_weight);
  }

  Value rms_norm(const Value& in, const Value& w) {
    const Scope scope(tape, Module::kNorm);
    Value x = to_copy(in, DType::kF32);
    {
      Value scale = power(x);
      scale = mean_last(scale);
      scale = add_scalar(scale);
      scale = rsqrt(scale);
      x = mul(x, scale);
    }
    const Value weighted = mul(w, x);
    return to_copy(weighted, in.dtype());
  }

  Value heads_of(const Value& x) {
    return transpose(view(x, Shape{x.size(0), x.size(1), model.heads, model.head_dim}), 1, 2);
  }

  // (cos x1 - sin x2, sin x1 + cos x2) over pairs (x1, x2) of neighbours.
  Value rotated(const Value& x) {
    const std::int64_t b = x.size(0), h = x.size(1), s = x.size(2), half = model.head_dim / 2;
    const std::vector<Value> pair =
        unbind_pair(permute(reshape(x, Shape{b, h, s, half, 2}), {4, 0, 1, 2, 3}));
    const std::vector<Value> factors = unbind_pair(slice(table_, 1, s));
    const Value& cosine = factors[0];
    const Value& sine = factors[1];
    Value first, second;
    {
      const Value straight = mul(cosine, pair[0]);
      const Value crossed = mul(sine, pair[1]);
      first = sub(straight, crossed);
    }
    {
      const Value crossed = mul(sine, pair[0]);
      const Value straight = mul(cosine, pair[1]);
      second = add(crossed, straight);
    }
    return cat(first, second, -1);
  }

  // q, k, v and the positions are variables: they stay until the output is there.
  Value attention(const Value& x, const Cs336Block& w) {
    const std::int64_t s = x.size(1);
    Value q, k, v, places, context;
    {
      const Scope scope(tape, Module::kQkv);
      q = project_by_einsum(x, w.q);
      k = project_by_einsum(x, w.k);
      v = project_by_einsum(x, w.v);
      q = heads_of(q);
      k = heads_of(k);
      v = heads_of(v);
    }
    {
      const Scope scope(tape, Module::kRotary);
      q = rotated(q);
      k = rotated(k);
    }
    const Scope scope(tape, Module::kAttentionCore);
    places = tape.make(OpKind::kArange, {}, Layout(Shape{s}), DType::kI64);
    const Value mask = tape.make(OpKind::kGe, {&places}, Layout(Shape{1, 1, s, s}), DType::kBool,
                                 {.flops = Flops(s * s)});
    context = weigh(q, k, v, mask);
    context = reshape(transpose(context, 1, 2), Shape{x.size(0), s, model.heads * model.head_dim});
    const Scope last(tape, Module::kAttentionOutput);
    return project_by_einsum(context, w.out);
  }

  Value weigh(const Value& q, const Value& k, const Value& v, const Value& mask) {
    Value scores;
    {
      const Value low_k = low(k);
      const Value low_q = low(q);
      scores = einsum_scores(low_q, low_k);
    }
    scores = div_scalar(scores);
    {
      const Value lowest = tape.make(OpKind::kFill, {}, Layout(Shape{}), scores.dtype());
      scores = where(mask, scores, lowest);
    }
    const Value weights = softmax_by_hand(scores);
    const Value low_v = low(v);
    const Value low_weights = low(weights);
    return einsum_context(low_weights, low_v);
  }

  Value shifted(const Value& x) {
    const Value largest = max_last(x);
    return sub(x, largest);
  }

  // Autocast computes exp in fp32.
  Value exponentials_of(const Value& x) {
    const Value operand = high(x);
    return exponential(operand);
  }

  Value softmax_by_hand(const Value& x) {
    const Value below = shifted(x);
    const Value exponentials = exponentials_of(below);
    const Value total = sum_last(exponentials);
    return div(exponentials, total);
  }

  // The largest values are a variable here; softmax has them as a temporary.
  Value log_softmax(const Value& x) {
    const Value largest = max_last(x);
    const Value below = sub(x, largest);
    Value normaliser = exponentials_of(below);
    normaliser = sum_last(normaliser);
    normaliser = logarithm(normaliser);
    return sub(below, normaliser);
  }

  Value feed_forward(const Value& x, const Cs336Block& w) {
    Value gate, up, product;
    {
      const Scope scope(tape, Module::kMlpIn);
      gate = project_by_einsum(x, w.gate);
    }
    {
      const Scope scope(tape, Module::kMlpActivation);
      const Value squashed = sigmoid(gate);
      gate = mul(gate, squashed);
    }
    {
      const Scope scope(tape, Module::kMlpIn);
      up = project_by_einsum(x, w.up);
    }
    {
      const Scope scope(tape, Module::kMlpActivation);
      product = mul(gate, up);
      gate.reset();
      up.reset();
    }
    const Scope scope(tape, Module::kMlpOut);
    return project_by_einsum(product, w.down);
  }

  Value embedding_, norm_, head_, table_;
  std::vector<Cs336Block> blocks_;
};

}  // namespace

std::unique_ptr<Script> make_cs336(Tape& tape, const LoweringInput& input) {
  return std::make_unique<Cs336>(tape, input);
}

}  // namespace tidemark
