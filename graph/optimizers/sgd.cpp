// torch.optim.SGD (torch/optim/sgd.py) without weight decay.

#include "graph/optimizers/optimizer.hpp"

namespace tidemark {

namespace {

Work elementwise(const Value& x, std::int64_t flops_each) {
  return {.flops = Flops(x.shape().elements() * flops_each)};
}

bool one_by_one(const Tape& tape) {
  return tape.kernels().optimizer == Kernels::OptimizerKernel::kSingle;
}

void apply(Tape& tape, std::vector<Updated>& tensors, Value Updated::*direction) {
  if (one_by_one(tape)) {
    for (Updated& x : tensors) {
      tape.update(OpKind::kAddInplace, x.target, {&x.target, &(x.*direction)},
                  elementwise(x.target, 2));
    }
    return;
  }
  multi_tensor_op(tape, OpKind::kForeachAdd, 2, tensors, [&](Updated& x) {
    tape.reads(x.*direction);
    tape.modifies(x.target);
  });
}

}  // namespace

void sgd_step(Tape& tape, std::vector<Updated>& tensors) {
  apply(tape, tensors, &Updated::gradient);
}

// buffer = momentum * buffer + gradient; the parameter moves along the buffer.
void sgd_momentum_step(Tape& tape, std::vector<Updated>& tensors) {
  if (one_by_one(tape)) {
    for (Updated& x : tensors) {
      Value& buffer = x.states[0];
      tape.update(OpKind::kMulInplace, buffer, {&buffer}, elementwise(buffer, 1));
      tape.update(OpKind::kAddInplace, buffer, {&buffer, &x.gradient}, elementwise(buffer, 1));
      tape.update(OpKind::kAddInplace, x.target, {&x.target, &buffer}, elementwise(x.target, 2));
    }
    return;
  }
  multi_tensor_op(tape, OpKind::kForeachMul, 1, tensors,
                  [&](Updated& x) { tape.modifies(x.states[0]); });
  multi_tensor_op(tape, OpKind::kForeachAdd, 2, tensors, [&](Updated& x) {
    tape.reads(x.gradient);
    tape.modifies(x.states[0]);
  });
  multi_tensor_op(tape, OpKind::kForeachAdd, 2, tensors, [&](Updated& x) {
    tape.reads(x.states[0]);
    tape.modifies(x.target);
  });
}

}  // namespace tidemark
