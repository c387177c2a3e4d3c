#include "graph/ops/ops.hpp"

namespace tidemark {

namespace {

Work work_of(const Value& x, std::int64_t flops_each) {
  return {.flops = Flops(x.shape().elements() * flops_each)};
}

Shape statistics_shape(const Shape& x) {
  Shape shape = x;
  shape.size[static_cast<std::size_t>(shape.rank - 1)] = 1;
  return shape;
}

Gradients layer_norm_backward(Tape& tape, Node& node, const Gradients& g) {
  const Value& x = node.saved[0];
  // One kernel for the input's gradient, one for weight and bias, which reads both again
  // (layer_norm_kernel.cu: layer_norm_grad_input_kernel, GammaBetaBackwardCUDAKernel).
  Work work = work_of(x, 11);
  work.kernels = 2;
  tape.begin(OpKind::kLayerNormBackward, g[0].dtype(), work);
  tape.reads(g[0]);
  for (int i = 0; i < 4; ++i) tape.reads(node.saved[static_cast<std::size_t>(i)]);
  tape.reads_again(x.shape().elements() * (size_of(x.dtype()) + size_of(g[0].dtype())));
  Gradients out;
  out[0] = tape.makes(Layout(x.shape()), x.dtype());
  for (std::size_t i = 1; i <= 2; ++i) {
    out[i] =
        tape.makes(Layout(node.inputs[i].shape), node.inputs[i].dtype, i == 1 ? "weight" : "bias");
  }
  return out;
}
constexpr DerivativeRule kLayerNormRule = {"layer_norm", layer_norm_backward};

Gradients fused_rms_norm_backward(Tape& tape, Node& node, const Gradients& g) {
  const Value& x = node.saved[0];
  const Value& weight = node.saved[1];
  Gradients out;
  tape.begin(OpKind::kFusedRmsNormBackward, g[0].dtype(), work_of(x, 9));
  tape.reads(g[0]);
  for (int i = 0; i < 3; ++i) tape.reads(node.saved[static_cast<std::size_t>(i)]);
  out[0] = tape.makes(preserved(x.layout()), x.dtype());
  out[1] = tape.makes(Layout(weight.shape()), weight.dtype(), "weight");
  return out;
}
constexpr DerivativeRule kFusedRmsNormRule = {"fused_rms_norm", fused_rms_norm_backward};

}  // namespace

// Statistics are fp32 whatever the input is (aten/native/cuda/layer_norm_kernel.cu).
Value layer_norm(const Value& x, const Value& weight, const Value& bias) {
  Tape& tape = x.tape();
  tape.begin(OpKind::kLayerNorm, x.dtype(), work_of(x, 8));
  tape.reads(x);
  tape.reads(weight);
  tape.reads(bias);
  Value y = tape.makes(Layout(x.shape()), x.dtype());
  const Value mean = tape.makes(Layout(statistics_shape(x.shape())), DType::kF32, "mean");
  const Value rstd = tape.makes(Layout(statistics_shape(x.shape())), DType::kF32, "rstd");
  if (Node* node = tape.differentiate(kLayerNormRule, {&x, &weight, &bias}, {&y})) {
    tape.save(*node, x);
    tape.save(*node, weight);
    tape.save(*node, mean);
    tape.save(*node, rstd);
  }
  return y;
}

// A kernel that keeps its input and one fp32 value a row.
Value fused_rms_norm(const Value& x, const Value& weight) {
  Tape& tape = x.tape();
  tape.begin(OpKind::kFusedRmsNorm, x.dtype(), work_of(x, 4));
  tape.reads(x);
  tape.reads(weight);
  Value y = tape.makes(preserved(x.layout()), x.dtype());
  Shape rows = x.shape();
  --rows.rank;
  rows.size[static_cast<std::size_t>(rows.rank)] = 0;
  const Value rstd = tape.makes(Layout(rows), DType::kF32, "rstd");
  if (Node* node = tape.differentiate(kFusedRmsNormRule, {&x, &weight}, {&y})) {
    tape.save(*node, x);
    tape.save(*node, weight);
    tape.save(*node, rstd);
  }
  return y;
}

}  // namespace tidemark
