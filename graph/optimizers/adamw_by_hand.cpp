// AdamW in plain tensor arithmetic, one parameter after another, as the script behind the allocator
// log of a real run, torch 2.11, must have it:
//
//   p.data -= lr * decay * p.data
//   m_before = state.get("m", torch.zeros_like(p.grad))    # the default is made even if unused
//   v_before = state.get("v", torch.zeros_like(p.grad))
//   m = beta1 * m_before + (1 - beta1) * p.grad
//   v = beta2 * v_before + (1 - beta2) * torch.square(p.grad)
//   p.data -= rate * m / (torch.sqrt(v) + eps)
//   state["m"], state["v"] = m, v
//
// The moments are new tensors each time, and m_before and v_before hold the old ones until the next
// parameter's are read.

#include <initializer_list>

#include "graph/optimizers/optimizer.hpp"

namespace tidemark {

namespace {

class Step {
 public:
  explicit Step(Tape& tape) : tape_(tape) {}

  void update(Updated& x) {
    const Value& p = x.target;
    {
      const Value decay = make(OpKind::kMul, {&p}, p);
      subtract(p, decay);
    }
    read_state(mean_before_, x.states[0], p);
    read_state(square_before_, x.states[1], p);
    Value mean, square, change;
    {
      const Value old_share = make(OpKind::kMul, {&mean_before_}, p);
      const Value new_share = make(OpKind::kMul, {&x.gradient}, p);
      mean = make(OpKind::kAdd, {&old_share, &new_share}, p);
    }
    {
      const Value old_share = make(OpKind::kMul, {&square_before_}, p);
      Value new_share = make(OpKind::kPow, {&x.gradient}, p);
      new_share = make(OpKind::kMul, {&new_share}, p);
      square = make(OpKind::kAdd, {&old_share, &new_share}, p);
    }
    {
      const Value scaled = make(OpKind::kMul, {&mean}, p);
      Value denominator = make(OpKind::kSqrt, {&square}, p);
      denominator = make(OpKind::kAdd, {&denominator}, p);
      change = make(OpKind::kDiv, {&scaled, &denominator}, p);
    }
    subtract(p, change);
    change.reset();
    x.states = {mean, square};
  }

 private:
  static Work work_of(const Value& x) { return {.flops = Flops(x.shape().elements())}; }

  Value make(OpKind kind, std::initializer_list<const Value*> inputs, const Value& like) {
    return tape_.make(kind, inputs, like.layout(), like.dtype(), work_of(like));
  }

  void subtract(const Value& target, const Value& x) {
    tape_.update(OpKind::kAddInplace, target, {&target, &x}, work_of(target));
  }

  void read_state(Value& before, const Value& state, const Value& target) {
    const Value zeros = make(OpKind::kZeros, {}, target);
    before = state ? state : zeros;
  }

  Tape& tape_;
  Value mean_before_, square_before_;
};

void step_all(Tape& tape, std::vector<Updated>& tensors) {
  Step step(tape);
  for (Updated& x : tensors) step.update(x);
}

constexpr OptimizerRow kByHand = {.optimizer = Optimizer::kAdamW,
                                  .name = "adamw",
                                  .summary = "AdamW: two moments a parameter",
                                  .states = 2,
                                  .step = step_all,
                                  .makes_states = true};

}  // namespace

const OptimizerRow& adamw_by_hand() { return kByHand; }

}  // namespace tidemark
