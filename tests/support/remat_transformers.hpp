#pragma once
// Transformers for the planners of graph/remat: L layers of h = 4096, 32 heads, sequence 2048,
// batch 1, bf16, with the sizes that Korthikanti et al. (2022, section 4) count and the times of an
// A100 roofline: 0.70 of 312 TFLOP/s, 0.85 of 2.039 TB/s. No parameters, embedding, head or logits.
//
//   gpt    LayerNorm, eager attention, GELU 4 h, dropouts
//   flash  the same with fused attention
//   llama  RMSNorm, rotary, fused attention, SwiGLU 11008, no dropout

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/remat_models.hpp"

namespace tidemark::test {

enum class Kind { kGpt, kFlash, kLlama };

class Transformer {
 public:
  // One s·b·h: a bf16 activation of the hidden size has two.
  static constexpr std::int64_t kUnit = std::int64_t{2048} * 4096;

  Transformer(Kind kind, std::uint32_t layers) : kind_(kind) {
    remat::TensorIndex x = make(2);
    steps_.once(0, {}, {x});
    std::vector<Layer> made;
    for (block_ = 0; block_ < layers; ++block_) {
      made.push_back(forward(x));
      x = made.back().y;
    }
    block_ = remat::kNone;
    remat::TensorIndex gradient = make(2);
    steps_.backward(0, {x}, {gradient});
    for (block_ = layers; block_-- > 0;) gradient = backward(made[block_], gradient);
  }

  const remat::Problem& problem() const { return steps_.problem; }

 private:
  using Id = remat::TensorIndex;

  struct Layer {
    Id x, n1, q, k, v, q2, k2, p, mask1, dropped, att, lse, mask2, res, n2, u, g, up, silu, mask3,
        y;
  };

  static constexpr double kHidden = 4096, kSequence = 2048, kFfn = 11008;
  static constexpr double kWide = 2 * kFfn / kHidden;  // units of a tensor of the SwiGLU's width
  static constexpr double kLinear = 2 * kSequence * kHidden * kHidden;       // FLOPs, h x h
  static constexpr double kCore = 4 * kSequence * kSequence * kHidden;       // both products
  static constexpr double kWeight = 2 * kHidden * kHidden / (2048 * 4096.);  // units, h x h

  Id make(double units) {
    return steps_.tensor(static_cast<std::int64_t>(std::llround(units * double(kUnit))));
  }

  // Picoseconds of a kernel by its FLOPs and the units that it reads and writes.
  static std::int64_t time(double flops, double units) {
    return std::llround(
        1e12 * std::max(flops / (0.70 * 312e12), units * double(kUnit) / (0.85 * 2.039e12)));
  }

  void run(double flops, double units, Steps::Tensors in, Steps::Tensors out) {
    steps_.forward(time(flops, units), in, out, block_);
  }
  void back(double flops, double units, Steps::Tensors in, Steps::Tensors out) {
    steps_.backward(time(flops, units), in, out, block_);
  }

  Id op(double flops, double traffic, double units, Steps::Tensors in) {
    const Id out = make(units);
    run(flops, traffic, in, {out});
    return out;
  }
  // A product with a weight of h x h · width, on `in` of `in_units`, out of `out_units`.
  Id linear(double width, double in_units, double out_units, Id in) {
    return op(width * kLinear, in_units + out_units + width * kWeight, out_units, {in});
  }
  Id grad(double flops, double traffic, double units, Steps::Tensors in) {
    const Id out = make(units);
    back(flops, traffic, in, {out});
    return out;
  }
  // Both products of its backward: the gradient of the input, of `in_units`, and of the weight.
  Id linear_grad(double width, double in_units, double out_units, Id gradient, Id in) {
    return grad(2 * width * kLinear, 2 * (in_units + out_units + width * kWeight), in_units,
                {gradient, in});
  }

  Layer forward(Id x) {
    Layer l{};
    const bool llama = kind_ == Kind::kLlama;
    l.x = x;
    l.n1 = op(0, 4, 2, {x});
    l.q2 = l.q = linear(1, 2, 2, l.n1);
    l.k2 = l.k = linear(1, 2, 2, l.n1);
    l.v = linear(1, 2, 2, l.n1);
    if (llama) {
      l.q2 = op(0, 4, 2, {l.q});
      l.k2 = op(0, 4, 2, {l.k});
    }
    if (kind_ == Kind::kGpt) {
      const Id scores = op(kCore / 2, 36, 32, {l.q, l.k});
      l.p = op(0, 64, 32, {scores});
      l.mask1 = op(0, 16, 16, {});
      l.dropped = op(0, 80, 32, {l.p, l.mask1});
      l.att = op(kCore / 2, 36, 2, {l.dropped, l.v});
    } else {
      l.att = make(2);
      l.lse = make(1. / 32);
      run(kCore, 8, {l.q2, l.k2, l.v}, {l.att, l.lse});
    }
    l.res = residual(x, linear(1, 2, 2, l.att), l.mask2);
    l.n2 = op(0, 4, 2, {l.res});
    if (llama) {
      const double width = kFfn / kHidden;
      l.u = linear(width, 2, kWide, l.n2);
      l.up = linear(width, 2, kWide, l.n2);
      l.silu = op(0, 2 * kWide, kWide, {l.u});
      l.g = op(0, 3 * kWide, kWide, {l.silu, l.up});
      l.y = residual(l.res, linear(width, kWide, 2, l.g), l.mask3);
    } else {
      l.u = linear(4, 2, 8, l.n2);
      l.g = op(0, 16, 8, {l.u});
      l.y = residual(l.res, linear(4, 8, 2, l.g), l.mask3);
    }
    return l;
  }

  Id residual(Id x, Id added, Id& mask) {
    if (kind_ == Kind::kLlama) return op(0, 6, 2, {x, added});
    mask = op(0, 1, 1, {});
    return op(0, 7, 2, {x, added, mask});
  }

  Id undropped(Id gradient, Id mask) {
    return kind_ == Kind::kLlama ? gradient : grad(0, 5, 2, {gradient, mask});
  }

  Id backward(const Layer& l, Id dy) {
    Id dres;
    if (kind_ == Kind::kLlama) {
      const double width = kFfn / kHidden;
      const Id dg = linear_grad(width, kWide, 2, dy, l.g);
      const Id dsilu = make(kWide), dup = make(kWide);
      back(0, 5 * kWide, {dg, l.silu, l.up}, {dsilu, dup});
      const Id du = grad(0, 3 * kWide, kWide, {dsilu, l.u});
      const Id a = linear_grad(width, 2, kWide, du, l.n2),
               b = linear_grad(width, 2, kWide, dup, l.n2);
      dres = grad(0, 8, 2, {a, b, l.res, dy});
    } else {
      const Id dg = linear_grad(4, 8, 2, undropped(dy, l.mask3), l.g);
      const Id du = grad(0, 24, 8, {dg, l.u});
      dres = grad(0, 8, 2, {linear_grad(4, 2, 8, du, l.n2), l.res, dy});
    }
    const Id datt = linear_grad(1, 2, 2, undropped(dres, l.mask2), l.att);
    Id dq = make(2), dk = make(2);
    const Id dv = make(2);
    if (kind_ == Kind::kGpt) {
      const Id ddropped = make(32);
      back(kCore, 70, {datt, l.dropped, l.v}, {ddropped, dv});
      const Id dp = grad(0, 80, 32, {ddropped, l.mask1});
      back(kCore, 40, {grad(0, 96, 32, {dp, l.p}), l.q, l.k}, {dq, dk});
    } else {
      back(2.5 * kCore, 14, {datt, l.q2, l.k2, l.v, l.att, l.lse}, {dq, dk, dv});
    }
    if (kind_ == Kind::kLlama) {
      dq = grad(0, 4, 2, {dq});
      dk = grad(0, 4, 2, {dk});
    }
    const Id a = linear_grad(1, 2, 2, dq, l.n1), b = linear_grad(1, 2, 2, dk, l.n1);
    return grad(0, 8, 2, {a, b, linear_grad(1, 2, 2, dv, l.n1), l.x, dres});
  }

  Kind kind_;
  std::uint32_t block_ = 0;
  Steps steps_;
};

inline remat::Problem transformer(Kind kind, std::uint32_t layers = 32) {
  return Transformer(kind, layers).problem();
}

// Five ops a layer with small whole numbers: forward 26 and backward 52 a layer, and dropping a
// tensor costs 2 for each byte. Op 0 makes the input and costs 100.
inline remat::Problem coarse(std::uint32_t layers) {
  Steps steps;
  struct Layer {
    remat::TensorIndex x, qkv, att, res, u;
  };
  std::vector<Layer> made;
  remat::TensorIndex x = steps.tensor(1);
  steps.forward(100, {}, {x});
  for (std::uint32_t i = 0; i < layers; ++i) {
    const Layer l{x, steps.tensor(3), steps.tensor(1), steps.tensor(1), steps.tensor(4)};
    x = steps.tensor(1);
    steps.forward(6, {l.x}, {l.qkv}, i);
    steps.forward(2, {l.qkv}, {l.att}, i);
    steps.forward(2, {l.x, l.att}, {l.res}, i);
    steps.forward(8, {l.res}, {l.u}, i);
    steps.forward(8, {l.res, l.u}, {x}, i);
    made.push_back(l);
  }
  remat::TensorIndex gradient = steps.tensor(1);
  steps.backward(0, {x}, {gradient});
  for (std::uint32_t i = layers; i-- > 0;) {
    const Layer& l = made[i];
    const auto du = steps.tensor(4), dres = steps.tensor(1), datt = steps.tensor(1);
    const auto dqkv = steps.tensor(3), dx = steps.tensor(1);
    steps.backward(16, {gradient, l.u}, {du}, i);
    steps.backward(16, {du, l.res, gradient}, {dres}, i);
    steps.backward(4, {dres, l.att}, {datt}, i);
    steps.backward(4, {datt, l.qkv}, {dqkv}, i);
    steps.backward(12, {dqkv, l.x, dres}, {dx}, i);
    gradient = dx;
  }
  return steps.problem;
}

}  // namespace tidemark::test
