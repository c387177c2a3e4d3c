// torch.optim.AdamW (torch/optim/adamw.py): _single_tensor_adamw, _multi_tensor_adamw and the fused
// kernel. Step counters are host tensors and take no device memory; but the fused kernel's are on
// the device, four bytes a parameter tensor, which are left out here.

#include "graph/optimizers/optimizer.hpp"

namespace tidemark {

namespace {

Work elementwise(const Value& x, std::int64_t flops_each) {
  return {.flops = Flops(x.shape().elements() * flops_each)};
}

// denom = (v.sqrt() / c).add_(eps): the loop's variable keeps the tensor before's until it is bound
// anew, so the new square root and quotient are made beside it.
void single(Tape& tape, std::vector<Updated>& tensors) {
  Value denominator;
  for (Updated& x : tensors) {
    Value& m = x.states[0];
    Value& v = x.states[1];
    tape.update(OpKind::kMulInplace, x.target, {&x.target}, elementwise(x.target, 1));
    tape.update(OpKind::kMulInplace, m, {&m}, elementwise(m, 1));
    tape.update(OpKind::kAddInplace, m, {&m, &x.gradient}, elementwise(m, 2));
    tape.update(OpKind::kMulInplace, v, {&v}, elementwise(v, 1));
    tape.update(OpKind::kAddcmul, v, {&v, &x.gradient}, elementwise(v, 3));
    Value quotient;
    {
      const Value root = tape.make(OpKind::kSqrt, {&v}, v.layout(), v.dtype(), elementwise(v, 1));
      quotient = tape.make(OpKind::kDiv, {&root}, v.layout(), v.dtype(), elementwise(v, 1));
    }
    tape.update(OpKind::kAddInplace, quotient, {&quotient}, elementwise(v, 1));
    denominator = std::move(quotient);
    tape.update(OpKind::kAddcdiv, x.target, {&x.target, &m, &denominator},
                elementwise(x.target, 3));
  }
}

enum class Generation { k113, k2x };

// Lists of temporaries: the square roots, and in 1.13 another of sqrt + eps.
void foreach_lists(Tape& tape, std::vector<Updated>& tensors, Generation generation) {
  multi_tensor_op(tape, OpKind::kForeachMul, 1, tensors,
                  [&](Updated& x) { tape.modifies(x.target); });
  multi_tensor_op(tape, OpKind::kForeachMul, 1, tensors,
                  [&](Updated& x) { tape.modifies(x.states[0]); });
  multi_tensor_op(tape, OpKind::kForeachAdd, 2, tensors, [&](Updated& x) {
    tape.reads(x.gradient);
    tape.modifies(x.states[0]);
  });
  multi_tensor_op(tape, OpKind::kForeachMul, 1, tensors,
                  [&](Updated& x) { tape.modifies(x.states[1]); });
  multi_tensor_op(tape, OpKind::kForeachAddcmul, 3, tensors, [&](Updated& x) {
    tape.reads(x.gradient);
    tape.modifies(x.states[1]);
  });
  std::vector<Value> roots, denominators;
  multi_tensor_op(tape, OpKind::kForeachSqrt, 2, tensors, [&](Updated& x) {
    tape.reads(x.states[1]);
    roots.push_back(tape.makes(x.states[1].layout(), x.states[1].dtype()));
  });
  std::size_t next = 0;
  multi_tensor_op(tape, OpKind::kForeachDiv, 1, tensors,
                  [&](Updated&) { tape.modifies(roots[next++]); });
  next = 0;
  if (generation == Generation::k113) {
    multi_tensor_op(tape, OpKind::kForeachAdd, 2, tensors, [&](Updated&) {
      const Value& root = roots[next++];
      tape.reads(root);
      denominators.push_back(tape.makes(root.layout(), root.dtype()));
    });
  } else {
    multi_tensor_op(tape, OpKind::kForeachAdd, 1, tensors,
                    [&](Updated&) { tape.modifies(roots[next++]); });
  }
  next = 0;
  const std::vector<Value>& divisors = generation == Generation::k113 ? denominators : roots;
  multi_tensor_op(tape, OpKind::kForeachAddcdiv, 3, tensors, [&](Updated& x) {
    tape.reads(x.states[0]);
    tape.reads(divisors[next++]);
    tape.modifies(x.target);
  });
}

void fused(Tape& tape, std::vector<Updated>& tensors) {
  multi_tensor_op(tape, OpKind::kFusedAdamW, 4, tensors, [&](Updated& x) {
    tape.reads(x.gradient);
    tape.reads(x.target);
    for (const Value& state : x.states) tape.reads(state);
    tape.writes(x.target);
    for (const Value& state : x.states) tape.writes(state);
  });
}

}  // namespace

void adamw_step(Tape& tape, std::vector<Updated>& tensors) {
  switch (tape.kernels().optimizer) {
    case Kernels::OptimizerKernel::kSingle:
      return single(tape, tensors);
    case Kernels::OptimizerKernel::kForeach:
      return foreach_lists(tape, tensors, Generation::k113);
    case Kernels::OptimizerKernel::kForeach2x:
      return foreach_lists(tape, tensors, Generation::k2x);
    case Kernels::OptimizerKernel::kFused:
      return fused(tape, tensors);
  }
}

}  // namespace tidemark
